/* SPDX-License-Identifier: MIT
 *
 * Numbers in text as tools and spreadsheets write them: 10, 0.75, 1e3, 10,5,
 * 10,500 and 10,5,7.
 * Runs in: analyzer. */
#include "foreign.h"

#define MANTISSA_MOST (UINT64_MAX / 10 - 1) /* room for one more digit */
#define EXPONENT_MOST 400                   /* a double has up to 308 */

static int is_digit(const struct jr_slice *word)
{
    return word->length > 0 && *word->text >= '0' && *word->text <= '9';
}

static void skip(struct jr_slice *word)
{
    word->text++;
    word->length--;
}

/* Adds a digit; beyond 18 of them, only the size of the number counts. */
static void add_digit(struct jr_foreign_number *number, int digit,
                      int is_fraction)
{
    if (number->mantissa > MANTISSA_MOST) {
        if (!is_fraction && number->exponent < EXPONENT_MOST)
            number->exponent++;
        return;
    }
    number->mantissa = number->mantissa * 10 + (unsigned)digit;
    number->exponent -= is_fraction;
}

/* Takes "e-3" off the word; -1: it is something else. */
static int take_exponent(struct jr_slice *word,
                         struct jr_foreign_number *number)
{
    int exponent = 0, is_negative;

    if (word->length == 0)
        return 0;
    if (*word->text != 'e' && *word->text != 'E')
        return -1;
    skip(word);
    is_negative = word->length > 0 && *word->text == '-';
    if (word->length > 0 && (*word->text == '-' || *word->text == '+'))
        skip(word);
    if (!is_digit(word))
        return -1;
    for (; is_digit(word); skip(word))
        if (exponent < EXPONENT_MOST)
            exponent = exponent * 10 + (*word->text - '0');
    number->exponent += is_negative ? -exponent : exponent;
    return word->length == 0 ? 0 : -1;
}

/* Counts the digits since the last comma at each comma and at the end. */
static void end_group(struct jr_foreign_number *number, int *digits)
{
    if (number->commas > 0 && *digits != 3)
        number->has_groups = 0;
    *digits = 0;
}

int jr_foreign_number(struct jr_slice word, enum jr_foreign_commas commas,
                      struct jr_foreign_number *number)
{
    int is_fraction = 0, is_over = 0, digits = 0;

    *number = (struct jr_foreign_number){.has_groups = 1};
    number->is_negative = word.length > 0 && *word.text == '-';
    if (word.length > 0 && (*word.text == '-' || *word.text == '+'))
        skip(&word);
    if (!is_digit(&word) && !(word.length > 1 && *word.text == '.'))
        return -1;
    for (; word.length > 0; skip(&word)) {
        if (is_digit(&word)) {
            if (!is_over)
                add_digit(number, *word.text - '0', is_fraction);
            digits++;
        } else if (*word.text == '.' && !number->has_point) {
            end_group(number, &digits);
            number->has_point = 1;
            is_fraction = 1;
        } else if (*word.text == ',' && !number->has_point && digits > 0) {
            end_group(number, &digits);
            if (number->commas < UINT8_MAX)
                number->commas++;
            is_fraction |= commas == JR_COMMAS_DECIMAL;
            is_over |= commas == JR_COMMAS_LIST;
        } else {
            break;
        }
    }
    if (digits == 0) /* of "." alone, "5." and "1," */
        return -1;
    if (!number->has_point)
        end_group(number, &digits);
    number->has_groups &= number->commas > 0;
    if (take_exponent(&word, number) != 0)
        return -1;
    while (number->mantissa > 0 && number->mantissa % 10 == 0) {
        number->mantissa /= 10;
        number->exponent++;
    }
    if (number->mantissa == 0)
        number->exponent = 0;
    return 0;
}

uint64_t jr_foreign_scaled(const struct jr_foreign_number *number, int decimals)
{
    uint64_t value = number->mantissa;
    int exponent = number->exponent + decimals;

    for (; exponent > 0 && value > 0; exponent--)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value))
            return UINT64_MAX;
    for (; exponent < -1 && value > 0; exponent++)
        value /= 10;
    if (exponent == -1)
        value = (value + 5) / 10;
    return value == 0 && number->mantissa > 0 ? 1 : value;
}
