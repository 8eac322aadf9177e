/* SPDX-License-Identifier: MIT
 *
 * What places and calls of a run are, kept for as long as it holds.
 * Runs in: analyzer. */
#include "resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fiber.h"
#include "jp_script.h"
#include "tree.h"
#include "words.h"

static const char gap_name[] = "[... frames left out ...]";
static const char no_stack_name[] = "[no stack]";
static const char own_name[] = "[jprof]"; /* a stack that is nothing else */
static const char no_module[] = "";

enum flag {
    INCLUDED = 1,
    EXCLUDED = 2,
    UNNAMED = 4,
    JIT = 8,
    NAMED = 16,
    LATE = 32,
    LINE = 64,
    FILED = 128
};

/* What a place is: functions that were inlined, innermost first, and the one
 * that they are in.  Their keys of nodes stand in resolver->keys. */
struct place {
    uint32_t span; /* when it is that: the number of a span, plus one; 0: it
                      was not looked up yet */
    uint32_t first, count;
    uint8_t flags; /* of any of its functions */
    uint8_t whose; /* enum jr_whose */
    uint8_t begins_fiber;
};

/* Code of a file without a name. */
#define NAMELESS (UNNAMED | FILED)

#define ALWAYS 0 /* the span that holds all times */

/* The node of a call, and when it is that: the number of a span. */
struct call {
    uint32_t node, span;
};

struct jr_resolver {
    struct jr_model *model;
    struct jr_process *process;
    const struct jr_stacks *stacks;
    struct place *places; /* as in stacks */
    struct call *calls;   /* as in stacks; node 0: not known yet */
    uint32_t *keys;
    size_t nkeys, keys_room;
    struct jr_table spans; /* from when until when; the values are numbers, in
                              the order in which they came */
    uint32_t last_span;    /* that was asked for */
    int no_paths;          /* the report needs none, nor do waits */
    struct jr_table spots; /* by address and when its code began */
    uint32_t waiting[JR_STACK_DEPTH_MAX * 2]; /* scratch: calls, root last */
};

/* Whether stacks need no nodes of their own: of real time, it is asked which
 * functions are on them. */
static int needs_no_paths(const struct jr_model *model,
                          const struct jr_run *run)
{
    for (unsigned event = 0; event < JP_EVENT_COUNT; event++) {
        if ((run->events >> event & 1) && jr_is_real((uint8_t)event))
            return 0;
    }
    return !jr_filter_needs(&model->filter, JR_NEEDS_PATHS) &&
           model->filter.depth == 0;
}

struct jr_resolver *jr_resolver_new(struct jr_model *model)
{
    struct jr_resolver *resolver = jr_alloc(1, sizeof(*resolver));

    resolver->model = model;
    resolver->process = &model->processes[model->nprocesses - 1];
    resolver->no_paths = needs_no_paths(model, resolver->process->run);
    resolver->stacks = &resolver->process->run->stacks;
    resolver->places =
        jr_alloc(resolver->stacks->nplaces, sizeof(*resolver->places));
    resolver->calls =
        jr_alloc(resolver->stacks->calls.count, sizeof(*resolver->calls));
    jr_table_put(&resolver->spans, 0, UINT64_MAX, ALWAYS);
    return resolver;
}

void jr_resolver_free(struct jr_resolver *resolver)
{
    free(resolver->places);
    free(resolver->calls);
    free(resolver->keys);
    jr_table_free(&resolver->spans);
    jr_table_free(&resolver->spots);
    free(resolver);
}

/* Whether one of the names is the frame's, readable or as its runtime wrote
 * it; marks it in `named`. */
static int listed(const char *const *names, size_t count,
                  const struct jr_frame *frame, uint8_t *named)
{
    int found = 0;

    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], frame->name) == 0 ||
            (frame->raw && strcmp(names[i], frame->raw) == 0))
            found = named[i] = 1;
    return found;
}

/* What -i and -e say of a frame. */
static uint8_t judge(const struct jr_model *model, const struct jr_frame *frame)
{
    const struct jr_filter *filter = &model->filter;
    uint8_t flags = 0;

    if (listed(filter->include, filter->ninclude, frame, model->named))
        flags |= INCLUDED;
    if (listed(filter->exclude, filter->nexclude, frame,
               model->named + filter->ninclude))
        flags |= EXCLUDED;
    return flags;
}

/* What the report counts of a frame. */
static uint8_t count_flags(const struct jr_frame *frame)
{
    if (frame->kind == JR_FRAME_JIT)
        return (uint8_t)(JIT | NAMED | (frame->late ? LATE : 0));
    if (frame->kind == JR_FRAME_JIT_UNNAMED)
        return JIT | UNNAMED;
    return frame->kind == JR_FRAME_NATIVE || frame->kind == JR_FRAME_SCRIPT
               ? 0
               : UNNAMED;
}

/* The same of all frames of a place, if it has any: what stands for its code is
 * the last. */
static uint8_t count_place(const struct jr_hit *hit)
{
    uint8_t flags = count_flags(&hit->frames[hit->nframes - 1]);

    if (hit->mapping)
        flags |= FILED;
    return hit->frames[0].line ? flags | LINE : flags;
}

static struct jr_frame pseudo(const char *name)
{
    return (struct jr_frame){
        .name = name, .module = no_module, .kind = JR_FRAME_UNKNOWN};
}

/* The key of a frame's node: its tier, or the place that it is at `address`,
 * `inlined` into the next one there. */
static uint32_t key_of(struct jr_model *model, const struct jr_frame *frame,
                       const struct jr_mapping *mapping, uint64_t address,
                       int inlined)
{
    const uint32_t tier = jr_tree_tier(model, frame);
    struct jr_place place;

    if (!jr_filter_needs(&model->filter, JR_NEEDS_PLACES))
        return tier;
    place = (struct jr_place){
        .address = jr_places_relative(mapping, address),
        .file = frame->file,
        .line = frame->line,
        .object = jr_places_object(&model->places, mapping, frame->module),
        .tier = tier,
        .inlined = inlined != 0};
    return jr_places_put(&model->places, &place);
}

/* Makes the frames at `address` what the place is, in the room that it has, if
 * that is enough. */
static void set_frames(struct jr_resolver *resolver, struct place *place,
                       const struct jr_hit *hit)
{
    const uint32_t count = (uint32_t)hit->nframes;

    if (count > place->count) {
        place->first = (uint32_t)resolver->nkeys;
        for (uint32_t i = 0; i < count; i++)
            *JR_PUSH(resolver->keys, resolver->nkeys, resolver->keys_room) = 0;
    }
    place->count = count;
    place->flags = place->begins_fiber = 0;
    for (uint32_t i = 0; i < count; i++) {
        resolver->keys[place->first + i] =
            key_of(resolver->model, &hit->frames[i], hit->mapping, hit->address,
                   i + 1 < count);
        place->flags |= judge(resolver->model, &hit->frames[i]);
        place->begins_fiber |= (uint8_t)jr_fiber_begins(&hit->frames[i]);
    }
}

static struct jr_span span_at(const struct jr_resolver *resolver,
                              uint32_t number)
{
    const struct jr_key *key = &resolver->spans.keys[number];

    return (struct jr_span){key->a, key->b};
}

static int in_span(const struct jr_resolver *resolver, uint32_t number,
                   uint64_t time_ns)
{
    const struct jr_span span = span_at(resolver, number);

    return number == ALWAYS ||
           (time_ns >= span.from_ns && time_ns < span.until_ns);
}

/* The number of a span; most are like the one before. */
static uint32_t span_of(struct jr_resolver *resolver,
                        const struct jr_span *span)
{
    const struct jr_span last = span_at(resolver, resolver->last_span);

    if (last.from_ns != span->from_ns || last.until_ns != span->until_ns)
        resolver->last_span =
            jr_table_put(&resolver->spans, span->from_ns, span->until_ns,
                         (uint32_t)resolver->spans.used);
    return resolver->last_span;
}

/* Whether a place that `call` (0: nothing) called is not shown: jprof's own
 * code that is no hook, and what the C library does for that. */
static int is_left_out(const struct jr_resolver *resolver,
                       const struct place *place, uint32_t call)
{
    const struct place *caller;

    if (place->count == 0)
        return 1;
    if (place->whose != JR_WHOSE_LIBC || call == 0)
        return 0;
    caller = &resolver->places[resolver->stacks->calls.items[call].key];
    return caller->whose == JR_WHOSE_OWN && caller->count == 0;
}

/* Marks the function of a place that is a hook of libjprof.so. */
static void mark_hook(const struct jr_resolver *resolver,
                      const struct place *place)
{
    struct jr_model *model = resolver->model;
    const uint32_t tier = jr_key_tier(model, resolver->keys[place->first]);

    model->functions[model->tiers[tier].function].hook = 1;
}

/* Whether the function of a key is what the hook at `last` stands before, so
 * that both are one call of the program's. */
static int is_behind_hook(const struct jr_model *model, uint32_t last,
                          uint32_t key)
{
    const uint32_t function = model->tiers[jr_key_tier(model, key)].function;

    return model->functions[function].hook &&
           model->tiers[jr_key_tier(model, last)].function == function;
}

/* What a place is at a time. */
static struct place *look_up(struct jr_resolver *resolver, uint32_t index,
                             uint64_t time_ns)
{
    struct place *place = &resolver->places[index];
    struct jr_hit hit = {.until_ns = UINT64_MAX, .nframes = 1};
    enum jr_whose whose = JR_WHOSE_OTHERS;
    struct jr_frame gap, hook;
    int own;

    if (place->span != 0 && in_span(resolver, place->span - 1, time_ns))
        return place;
    if (index == JR_PLACE_GAP) {
        gap = pseudo(gap_name);
        hit.frames = &gap;
    } else {
        jr_space_find(resolver->process->space, resolver->stacks->places[index],
                      time_ns, 0, &hit);
        whose = jr_space_own(resolver->process->space, &hit, &hook);
        if (hit.is_runner && !resolver->model->filter.interpreter)
            hit.nframes = 0;
    }
    own = whose == JR_WHOSE_OWN;
    place->whose = (uint8_t)whose;
    set_frames(resolver, place, &hit);
    if (own && place->count > 0)
        mark_hook(resolver, place);
    else if (!own && index != JR_PLACE_GAP && place->count > 0)
        place->flags |= count_place(&hit);
    place->span =
        span_of(resolver, &(struct jr_span){hit.from_ns, hit.until_ns}) + 1;
    return place;
}

static void narrow(const struct jr_resolver *resolver,
                   const struct place *place, uint64_t *from_ns,
                   uint64_t *until_ns)
{
    const struct jr_span span = span_at(resolver, place->span - 1);

    if (place->span == ALWAYS + 1)
        return;
    if (span.from_ns > *from_ns)
        *from_ns = span.from_ns;
    if (span.until_ns < *until_ns)
        *until_ns = span.until_ns;
}

_Static_assert(JR_STACK_DEPTH_MAX <= UINT16_MAX, "frames can be counted");

static void count_if(int is_so, uint16_t *count)
{
    *count = (uint16_t)(*count + (is_so != 0));
}

/* Counts a place of the stack in the answer; returns its flags. */
static uint8_t add_place(struct jr_resolver *resolver, uint32_t index,
                         uint64_t time_ns, struct jr_stack_answer *answer)
{
    const struct place *place = look_up(resolver, index, time_ns);

    narrow(resolver, place, &answer->from_ns, &answer->until_ns);
    if (index == JR_PLACE_GAP || place->count == 0)
        return place->flags;
    answer->frames++;
    answer->inlined += place->count - 1;
    count_if(place->flags & LINE, &answer->lines);
    count_if(place->flags & UNNAMED, &answer->unnamed);
    count_if(place->flags & JIT, &answer->jit);
    count_if(place->flags & NAMED, &answer->jit_named);
    count_if(place->flags & LATE, &answer->jit_late);
    return place->flags;
}

/* The spot of a stack's leaf, when that is JIT code with a name, a file's or a
 * script's. */
static uint32_t spot_of(struct jr_resolver *resolver,
                        const struct jr_sample *sample,
                        const struct jr_stack *stack)
{
    struct jr_model *model = resolver->model;
    const struct place *place = &resolver->places[stack->place];
    const uint64_t address = resolver->stacks->places[stack->place];
    uint32_t fresh = (uint32_t)model->nspots, id;

    if ((!(place->flags & (NAMED | FILED)) &&
         JP_SCRIPT_TAG_OF(address) != JP_SCRIPT_TAG) ||
        !jr_filter_needs(&model->filter, JR_NEEDS_CODE) ||
        is_left_out(resolver, place, stack->call))
        return JR_NO_SPOT;
    id = jr_table_put(&resolver->spots, address,
                      span_at(resolver, place->span - 1).from_ns, fresh);
    if (id == fresh)
        *JR_PUSH(model->spots, model->nspots, model->spots_room) =
            (struct jr_spot){
                .address = address,
                .time_ns = sample->time_ns,
                .process = (uint32_t)(resolver->process - model->processes),
                .tier = jr_key_tier(model, resolver->keys[place->first])};
    return id;
}

/* The node of the functions of a place that `call` called, whose node is
 * `node`.  Nodes from `fresh` on were added for this stack, each below the one
 * before it. */
static uint32_t place_node(struct jr_resolver *resolver, uint32_t node,
                           const struct place *place, uint32_t call,
                           uint32_t fresh)
{
    struct jr_paths *nodes = &resolver->model->nodes;

    if (is_left_out(resolver, place, call))
        return node;
    for (uint32_t i = place->count; i-- > 0;) {
        const uint32_t key = resolver->keys[place->first + i];

        if (node != 0 &&
            is_behind_hook(resolver->model, nodes->items[node].key, key))
            continue;
        node = node >= fresh ? jr_paths_add(nodes, node, key)
                             : jr_paths_child(nodes, node, key);
    }
    return node;
}

static int holds(const struct jr_resolver *resolver, uint32_t call,
                 uint64_t time_ns)
{
    const struct call *known = &resolver->calls[call];

    return known->node != 0 && in_span(resolver, known->span, time_ns);
}

/* The caller of a frame; 0: it has none, or a fiber begins there. */
static uint32_t caller_of(const struct jr_resolver *resolver, uint32_t call)
{
    const struct jr_path *item = &resolver->stacks->calls.items[call];

    return resolver->places[item->key].begins_fiber ? 0 : item->parent;
}

/* The node of a call, whose places have been looked up for this time. */
static uint32_t call_node(struct jr_resolver *resolver, uint32_t call,
                          uint64_t time_ns, uint32_t fresh)
{
    struct jr_span span = {0, UINT64_MAX};
    uint32_t node = 0, waiting = 0;

    while (call != 0 && !holds(resolver, call, time_ns)) {
        resolver->waiting[waiting++] = call;
        call = caller_of(resolver, call);
    }
    if (call != 0) {
        node = resolver->calls[call].node;
        span = span_at(resolver, resolver->calls[call].span);
    }
    while (waiting > 0) {
        const struct place *place;

        call = resolver->waiting[--waiting];
        place = &resolver->places[resolver->stacks->calls.items[call].key];
        node = place_node(resolver, node, place,
                          resolver->stacks->calls.items[call].parent, fresh);
        narrow(resolver, place, &span.from_ns, &span.until_ns);
        resolver->calls[call] = (struct call){node, span_of(resolver, &span)};
    }
    return node;
}

static void add_key(struct jr_model *model, uint32_t key)
{
    *JR_PUSH(model->path, model->npath, model->path_room) = key;
}

/* Adds a frame that no address is for; returns what -i and -e say of it. */
static uint8_t add_pseudo(struct jr_model *model, const char *name)
{
    const struct jr_frame frame = pseudo(name);

    add_key(model, key_of(model, &frame, NULL, 0, 0));
    return judge(model, &frame);
}

/* The node of what model->path has above `node`, which takes it out there.  A
 * stack of frames that are not shown has one. */
static uint32_t path_node(struct jr_model *model, uint32_t node)
{
    if (node == 0 && model->npath == 0)
        add_pseudo(model, own_name);
    while (model->npath > 0)
        node = jr_paths_child(&model->nodes, node, model->path[--model->npath]);
    return node;
}

/* Adds the keys of a place that `call` called to the model's path; returns
 * whether there is room for more of them. */
static int add_keys(struct jr_resolver *resolver, const struct place *place,
                    uint32_t call)
{
    struct jr_model *model = resolver->model;

    if (is_left_out(resolver, place, call))
        return 1;
    for (uint32_t i = 0; i < place->count; i++) {
        const uint32_t key = resolver->keys[place->first + i];

        if (model->npath > 0 &&
            is_behind_hook(model, model->path[model->npath - 1], key))
            continue;
        if (model->npath == model->filter.depth)
            return 0;
        add_key(model, key);
    }
    return 1;
}

/* The node of the leaf-most functions of a stack, as -s asks for; those that
 * are in model->path come first. */
static uint32_t cut_node(struct jr_resolver *resolver,
                         const struct jr_stack *stack)
{
    const struct jr_stacks *stacks = resolver->stacks;
    struct jr_model *model = resolver->model;
    uint32_t call = stack->call;
    int more = stack->place == JR_PLACE_GAP ||
               add_keys(resolver, &resolver->places[stack->place], call);

    for (; more && call != 0; call = caller_of(resolver, call))
        more =
            add_keys(resolver, &resolver->places[stacks->calls.items[call].key],
                     stacks->calls.items[call].parent);
    return path_node(model, 0);
}

/* The node of a stack where only its innermost function is asked for, and, for
 * what modules leave without names, code of files that has none. */
static uint32_t short_node(struct jr_resolver *resolver,
                           const struct jr_stack *stack)
{
    const struct jr_stacks *stacks = resolver->stacks;
    struct jr_model *model = resolver->model;
    const struct place *place = &resolver->places[stack->place];
    uint32_t call = stack->call;

    for (; is_left_out(resolver, place, call) && call != 0;
         call = stacks->calls.items[call].parent)
        place = &resolver->places[stacks->calls.items[call].key];
    for (uint32_t i = 0; stack->place != JR_PLACE_GAP && i < place->count; i++)
        add_key(model, resolver->keys[place->first + i]);
    for (; call != 0; call = caller_of(resolver, call)) {
        place = &resolver->places[stacks->calls.items[call].key];
        if ((place->flags & NAMELESS) == NAMELESS)
            add_key(model, resolver->keys[place->first + place->count - 1]);
    }
    return path_node(model, 0);
}

void jr_resolve(struct jr_resolver *resolver, const struct jr_sample *sample,
                struct jr_stack_answer *answer)
{
    struct jr_model *model = resolver->model;
    const struct jr_stacks *stacks = resolver->stacks;
    struct jr_stack own = stacks->items[sample->stack], *stack = &own;
    const uint32_t fresh = (uint32_t)model->nodes.count;
    uint8_t flags = model->filter.ninclude == 0 ? INCLUDED : 0;
    uint8_t nameless = UNNAMED, found;

    *answer =
        (struct jr_stack_answer){.until_ns = UINT64_MAX, .spot = JR_NO_SPOT};
    model->npath = 0;
    if (model->filter.split)
        flags |= add_pseudo(model, jr_event_frame(sample->event));
    if (sample->stack == 0) {
        flags |= add_pseudo(model, no_stack_name);
        nameless = 0;
    } else {
        found = add_place(resolver, stack->place, sample->time_ns, answer);
        flags |= found;
        nameless &= found;
        answer->bare = nameless != 0;
        answer->spot = spot_of(resolver, sample, stack);
        answer->fiber = resolver->places[stack->place].begins_fiber;
        if (answer->fiber)
            stack->call = 0;
    }
    /* The places lie all over memory, so all of them are prefetched before the
     * first is used. */
    for (uint32_t i = stack->call; i != 0; i = stacks->calls.items[i].parent)
        __builtin_prefetch(&resolver->places[stacks->calls.items[i].key]);
    for (uint32_t i = stack->call; i != 0; i = stacks->calls.items[i].parent) {
        found = add_place(resolver, stacks->calls.items[i].key, sample->time_ns,
                          answer);
        flags |= found;
        if (i == stack->call)
            nameless &= found;
        if (resolver->places[stacks->calls.items[i].key].begins_fiber) {
            answer->fiber = 1;
            break;
        }
    }
    answer->nameless = nameless != 0;
    if ((flags & EXCLUDED) || !(flags & INCLUDED))
        return;
    if (model->filter.depth != 0) {
        answer->node = cut_node(resolver, stack);
        return;
    }
    if (resolver->no_paths) {
        answer->node = short_node(resolver, stack);
        return;
    }
    answer->node = call_node(resolver, stack->call, sample->time_ns, fresh);
    if (sample->stack != 0)
        answer->node =
            place_node(resolver, answer->node, &resolver->places[stack->place],
                       stack->call, fresh);
    answer->node = path_node(model, answer->node);
}
