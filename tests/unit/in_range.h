/* SPDX-License-Identifier: MIT
 *
 * cmocka 2 warns of assert_in_range and has assert_uint_in_range, which cmocka
 * 1 has not: the new name for both.
 * Runs in: tests; included after cmocka.h. */
#ifndef JP_TEST_IN_RANGE_H
#define JP_TEST_IN_RANGE_H

#ifndef assert_uint_in_range
#define assert_uint_in_range(value, least, most)                               \
    assert_in_range(value, least, most)
#endif

#endif
