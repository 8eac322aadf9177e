/* SPDX-License-Identifier: MIT
 *
 * CPU time of threads that run kernel code alone, by their names.
 * Runs in: analyzer. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cover_kernel.h"
#include "model/model.h"

#define DIGITS "0123456789"

/* The length of a name without the number at its end: io_uring's threads have
 * the id of the thread that they work for there (iou-wrk-4711). */
static size_t kind_length(const char *name)
{
    size_t length = strlen(name);

    while (length && strchr(DIGITS, name[length - 1]))
        length--;
    if (length > 1 && name[length] && name[length - 1] == '-')
        length--;
    return length ? length : strlen(name);
}

static struct jr_cover_kernel *kernel_of(struct jr_cover *cover,
                                         const char *name)
{
    struct jr_cover_kernel one = {.cpu_ns = 0};
    size_t i = 0;

    snprintf(one.name, sizeof one.name, "%.*s", (int)kind_length(name), name);
    while (i < cover->nkernel && strcmp(cover->kernel[i].name, one.name) != 0)
        i++;
    if (i >= JR_COVER_KERNELS - 1) {
        i = JR_COVER_KERNELS - 1;
        snprintf(one.name, sizeof one.name, "others");
    }
    if (i >= cover->nkernel) {
        cover->kernel[i] = one;
        cover->nkernel = i + 1;
    }
    return &cover->kernel[i];
}

static int counts(const struct jr_map *map,
                  const struct jr_kernel_thread *thread)
{
    return thread->time_ns > map->clear.time_ns;
}

void jr_cover_kernel(struct jr_cover *cover, const struct jr_map *map)
{
    for (size_t i = 0; i < map->nkernel; i++) {
        if (!counts(map, &map->kernel[i]))
            continue;
        struct jr_cover_kernel *one = kernel_of(cover, map->kernel[i].name);
        one->cpu_ns = jr_add(one->cpu_ns, map->kernel[i].cpu_ns);
    }
}

uint64_t jr_cover_kernel_ns(const struct jr_map *map, uint64_t counted_ns)
{
    uint64_t sum = 0;

    if (map->clear.time_ns == 0)
        return counted_ns;
    for (size_t i = 0; i < map->nkernel; i++)
        if (counts(map, &map->kernel[i]))
            sum = jr_add(sum, map->kernel[i].cpu_ns);
    return sum < counted_ns ? sum : counted_ns;
}
