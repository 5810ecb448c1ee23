//! Verdicts directly from a file's bytes: the class `OneShot`.

use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass};
use jni::sys::jlong;
use reptile::{OneShot, Verdict};

use crate::border::{bytes, crawler as named, run, text};
use crate::compiler::dialect_of;
use crate::table::Table;

static ONE_SHOTS: Table<OneShot> = Table::new();

/// `long oneShotNew(byte[] crawler, byte[] dialect)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_oneShotNew<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    crawler: JByteArray<'l>,
    dialect: JByteArray<'l>,
) -> jlong {
    run(env, |env| {
        let dialect = dialect_of(&text(env, &dialect)?)?;
        Ok(ONE_SHOTS.add(OneShot::new(named(text(env, &crawler)?), &dialect)?))
    })
}

/// `long oneShotDecide(long number, byte[] body, byte[] url)`: the line times 4, plus the verdict's ordinal in Java's
/// enum `Verdict`. After an exception, the result is ignored.
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_oneShotDecide<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    number: jlong,
    body: JByteArray<'l>,
    url: JByteArray<'l>,
) -> jlong {
    run(env, |env| {
        let one_shot = ONE_SHOTS.get(number)?;
        let (verdict, line) = one_shot.decide(bytes(env, &body)?, bytes(env, &url)?)?;
        let verdict = match verdict {
            Verdict::Allow => 0,
            Verdict::Disallow => 1,
            Verdict::Unknown => 2,
            Verdict::Invalid => 3,
        };
        Ok(jlong::from(line.unwrap_or_default()) << 2 | verdict)
    })
}

/// `void oneShotFree(long number)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_oneShotFree<'l>(env: EnvUnowned<'l>, _: JClass<'l>, number: jlong) {
    run(env, |_| {
        ONE_SHOTS.remove(number);
        Ok(())
    });
}
