/* SPDX-License-Identifier: MIT
 *
 * The libc functions behind the ones that the library interposes.
 * Runs in: any thread, not in a handler. */
#ifndef JP_REAL_H
#define JP_REAL_H

#define JP_EXPORT __attribute__((visibility("default")))

/* The next definition of `name` in the link order, else the C library's.  If
 * there is none, which would be a broken libc, says so on stderr and returns a
 * function that fails with ENOSYS.  Never NULL. */
void *jp_real(const char *name);

/* One hook's: where its pointer is kept. */
struct jp_real_entry {
    const char *name;
    void *_Atomic *found;
};

/* Looks them all up, for a process that is to be profiled: some of the hooks
 * may be called in a signal handler, where dlsym must not be.  What is not
 * found is looked for again when it is called. */
void jp_real_all(void);

/* Declares a pointer `real` to the function behind the one that it is in,
 * looked up at its first use. */
#define JP_REAL(type, name)                                                   \
    static void *_Atomic found;                                               \
    static const struct jp_real_entry entry                                   \
        __attribute__((section("jp_reals"), used)) = {#name, &found};         \
    void *at_ = found;                                                        \
    if (at_ == NULL) {                                                        \
        at_ = jp_real(#name);                                                 \
        found = at_;                                                          \
    }                                                                         \
    type *real;                                                               \
    *(void **)&real = at_;                                                    \
    (void)entry;

#endif
