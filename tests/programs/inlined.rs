// SPDX-License-Identifier: MIT
//! Functions that are inlined into one another, three deep, and into what the
//! core library has.  Runs in: tests.
#![no_std]
#[inline(always)]
fn innermost(x: u32) -> u32 {
    let mut sum = x;
    for i in 0..50u32 {
        sum = sum.wrapping_add((x ^ i).wrapping_mul(2654435761) >> 5);
    }
    sum
}
#[inline(always)]
fn middle(x: u32) -> u32 {
    innermost(x).wrapping_add(innermost(x.wrapping_add(7)))
}
#[inline(always)]
fn outermost(x: u32) -> u32 {
    middle(x) ^ middle(x >> 3)
}
#[no_mangle]
pub extern "C" fn turn(from: u32, to: u32) -> u32 {
    (from..to).map(|x| outermost(x)).fold(0, |a, b| a.wrapping_add(b))
}
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
