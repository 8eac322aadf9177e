/* SPDX-License-Identifier: MIT
 *
 * Keeps one of each place and of each object.
 * Runs in: analyzer. */
#include "places.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What is taken from an address to get one from the object's zero: the load
 * bias, or where the map knows none what makes it an offset in the file. */
static uint64_t bias_of(const struct jr_mapping *mapping)
{
    return mapping->has_bias ? mapping->bias : mapping->start - mapping->offset;
}

uint64_t jr_places_relative(const struct jr_mapping *mapping, uint64_t address)
{
    return mapping ? address - bias_of(mapping) : address;
}

static int same_file(const struct jr_mapping *one,
                     const struct jr_mapping *other)
{
    if (one->has_bias != other->has_bias ||
        one->build_id_size != other->build_id_size ||
        memcmp(one->build_id, other->build_id, one->build_id_size) != 0 ||
        strcmp(one->path, other->path) != 0)
        return 0;
    return one->build_id_size != 0 ||
           (one->inode == other->inode && one->mtime_ns == other->mtime_ns);
}

static uint32_t hash_mapping(const struct jr_mapping *mapping)
{
    uint64_t hash = mapping->build_id_size;

    for (const char *at = mapping->path; *at; at++)
        hash = hash * 31 + (unsigned char)*at;
    for (size_t i = 0; i < mapping->build_id_size; i++)
        hash = hash * 31 + mapping->build_id[i];
    return jr_hash(hash, 0);
}

/* Makes the object as long as it is with this mapping of it. */
static void extend(struct jr_object *object, const struct jr_mapping *mapping)
{
    if (bias_of(mapping) != object->bias)
        return;
    if (mapping->start < object->start) {
        object->start = mapping->start;
        object->offset = mapping->offset;
    }
    if (mapping->end > object->end)
        object->end = mapping->end;
}

static uint32_t add_object(struct jr_places *places, uint32_t hash,
                           const struct jr_object *object)
{
    const uint32_t fresh = (uint32_t)places->nobjects;

    jr_index_add(&places->by_object, hash, fresh);
    *JR_PUSH(places->objects, places->nobjects, places->objects_room) = *object;
    return fresh;
}

uint32_t jr_places_object(struct jr_places *places,
                          const struct jr_mapping *mapping, const char *module)
{
    const uint32_t hash =
        mapping ? hash_mapping(mapping) : jr_hash((uintptr_t)module, 1);
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(&places->by_object, hash, &at)) !=
           JR_NO_ITEM) {
        struct jr_object *object = &places->objects[found];

        if (mapping && object->mapping && same_file(object->mapping, mapping)) {
            extend(object, mapping);
            return found;
        }
        if (!mapping && !object->mapping && object->path == module)
            return found;
    }
    if (!mapping)
        return add_object(places, hash, &(struct jr_object){.path = module});
    return add_object(places, hash,
                      &(struct jr_object){.path = mapping->path,
                                          .mapping = mapping,
                                          .bias = bias_of(mapping),
                                          .start = mapping->start,
                                          .end = mapping->end,
                                          .offset = mapping->offset});
}

static int same_place(const struct jr_place *one, const struct jr_place *other)
{
    return one->address == other->address && one->file == other->file &&
           one->line == other->line && one->object == other->object &&
           one->tier == other->tier && one->inlined == other->inlined;
}

uint32_t jr_places_put(struct jr_places *places, const struct jr_place *place)
{
    const uint32_t hash = jr_hash(
        place->address + ((uint64_t)place->object << 48),
        ((uint64_t)place->tier << 32 | place->line) * 2 + place->inlined);
    const uint32_t fresh = (uint32_t)places->count;
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(&places->by_place, hash, &at)) != JR_NO_ITEM)
        if (same_place(&places->items[found], place))
            return found;
    if (fresh == JR_NO_ITEM)
        jr_no_memory();
    jr_index_add(&places->by_place, hash, fresh);
    *JR_PUSH(places->items, places->count, places->room) = *place;
    return fresh;
}

void jr_places_free(struct jr_places *places)
{
    free(places->items);
    free(places->objects);
    jr_index_free(&places->by_place);
    jr_index_free(&places->by_object);
    *places = (struct jr_places){0};
}
