/* SPDX-License-Identifier: MIT
 *
 * A module for the C library's name service switch, which uses the CPU for as
 * many milliseconds as the name that it is asked for says, in functions that
 * no other module has, and finds nothing.
 * Runs in: tests. */
#ifndef TEST_NSSMOD_H
#define TEST_NSSMOD_H

#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <netdb.h>
#include <nss.h>
#include <pwd.h>

#define NSSMOD(letter)                                                         \
    NOINLINE void nss_##letter##_spin(const char *name);                       \
    void nss_##letter##_spin(const char *name)                                 \
    {                                                                          \
        const double until =                                                   \
            cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + strtod(name, NULL) / 1e3;   \
        while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)                   \
            turn(20000);                                                       \
    }                                                                          \
    enum nss_status _nss_jptest##letter##_getpwnam_r(                          \
        const char *name, struct passwd *result, char *buffer, size_t size,    \
        int *error);                                                           \
    enum nss_status _nss_jptest##letter##_getpwnam_r(                          \
        const char *name, struct passwd *result, char *buffer, size_t size,    \
        int *error)                                                            \
    {                                                                          \
        (void)result, (void)buffer, (void)size;                                \
        nss_##letter##_spin(name);                                             \
        *error = ENOENT;                                                       \
        return NSS_STATUS_NOTFOUND;                                            \
    }                                                                          \
    enum nss_status _nss_jptest##letter##_gethostbyname2_r(                    \
        const char *name, int family, struct hostent *result, char *buffer,    \
        size_t size, int *error, int *host_error);                             \
    enum nss_status _nss_jptest##letter##_gethostbyname2_r(                    \
        const char *name, int family, struct hostent *result, char *buffer,    \
        size_t size, int *error, int *host_error)                              \
    {                                                                          \
        (void)family, (void)result, (void)buffer, (void)size;                  \
        nss_##letter##_spin(name);                                             \
        *error = ENOENT;                                                       \
        *host_error = HOST_NOT_FOUND;                                          \
        return NSS_STATUS_NOTFOUND;                                            \
    }

#endif
