//! Crawlers' access to origins: the class `AccessReader`.

use jni::objects::{JByteArray, JClass, JObject, JObjectArray, JValue};
use jni::sys::jlong;
use jni::{Env, EnvUnowned, jni_sig, jni_str};
use reptile::summary::{Summarizer, Summary};
use reptile::urls::split;
use reptile::{Agents, Crawler, MappedFile, Origin, Set};

use crate::border::{Failure, bytes, crawler, run, string, text};
use crate::table::Table;

/// Number of origins that are summarized at a time.
const BATCH: usize = 4096;

/// Enough local references for one call to the consumer.
const LOCAL_REFERENCES: usize = 16;

static READERS: Table<Agents> = Table::new();

/// `long accessNew(byte[] path, byte[][] crawlers)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_accessNew<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    path: JByteArray<'l>,
    crawlers: JObjectArray<'l, JByteArray<'l>>,
) -> jlong {
    run(env, |env| {
        let path = text(env, &path)?;
        let mut names: Vec<Crawler> = Vec::new();
        for index in 0..crawlers.len(env)? {
            let name = crawlers.get_element(env, index)?;
            names.push(crawler(text(env, &name)?));
            env.delete_local_ref(name);
        }
        // SAFETY: the class's documentation forbids writing to the file while it is in use, as for `CompiledSet.open`.
        let file = unsafe { MappedFile::open(&path) }.map_err(|error| Failure::File(path.clone(), error))?;
        let set = Set::map(file).map_err(|error| Failure::LibraryFile(path, error))?;
        let agents = set.agents(names)?;
        for agent in agents.iter() {
            if let Some(mistake) = agent.probably_meant() {
                let name = agent.crawler();
                return Err(Failure::Misspelled(format!("no robots.txt names \"{name}\", {mistake}")));
            }
        }
        Ok(READERS.add(agents))
    })
}

/// `void accessFree(long number)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_accessFree<'l>(env: EnvUnowned<'l>, _: JClass<'l>, number: jlong) {
    run(env, |_| {
        READERS.remove(number);
        Ok(())
    });
}

/// `void accessOf(long number, byte[] url, Consumer<Access> consumer)`: one call for each crawler.
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_accessOf<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    number: jlong,
    url: JByteArray<'l>,
    consumer: JObject<'l>,
) {
    run(env, |env| {
        let agents = READERS.get(number)?;
        let url = bytes(env, &url)?;
        let origin = named(&url);
        for agent in agents.iter() {
            let summary = match &origin {
                Some(origin) => agent.access(origin.to_string())?,
                None => Summary::invalid(),
            };
            let shown = origin.as_ref().map_or_else(|| url.clone(), |origin| format!("{origin}/").into_bytes());
            pass(env, &consumer, &shown, agent.crawler(), &summary)?;
        }
        Ok(())
    });
}

/// `void accessOfAll(long number, Consumer<Access> consumer)`: one call for each origin and crawler.
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_accessOfAll<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    number: jlong,
    consumer: JObject<'l>,
) {
    run(env, |env| {
        let agents = READERS.get(number)?;
        let mut summarizer = Summarizer::new(Agents::clone(&agents));
        let mut stored = agents.origins();
        loop {
            let origins: Result<Vec<Origin>, reptile::Error> = stored.by_ref().take(BATCH).collect();
            let origins = origins?;
            if origins.is_empty() {
                return Ok(());
            }
            let summaries = summarizer.summarize(&origins)?;
            for (origin, row) in origins.iter().zip(summaries.chunks(agents.len().max(1))) {
                for (agent, summary) in agents.iter().zip(row) {
                    pass(env, &consumer, format!("{origin}/").as_bytes(), agent.crawler(), summary)?;
                }
            }
        }
    });
}

/// Returns the origin that a text names, as in `reptile summarize`: a URL's origin, or a host's https origin.
fn named(text: &[u8]) -> Option<Origin> {
    let text = text.trim_ascii();
    let of_url = split(text).ok().and_then(|url| Origin::new(&url.origin).ok());
    let of_host = || {
        let host = str::from_utf8(text).ok()?;
        let is_host = !host.is_empty() && !host.contains(['/', '?', '#', '@', '\\']);
        is_host.then(|| format!("https://{host}").parse().ok()).flatten()
    };
    of_url.or_else(of_host)
}

/// Passes a summary to the consumer.
fn pass(
    env: &mut Env<'_>,
    consumer: &JObject<'_>,
    url: &[u8],
    crawler: &Crawler,
    summary: &Summary<'_>,
) -> Result<(), Failure> {
    env.with_local_frame(LOCAL_REFERENCES, |env| -> Result<(), Failure> {
        let url = string(env, Some(url))?;
        let crawler = string(env, Some(crawler.to_string().as_bytes()))?;
        let access = string(env, Some(summary.access.name().as_bytes()))?;
        let group = string(env, Some(summary.group.as_str().as_bytes()))?;
        let reason = string(env, Some(summary.reason.to_string().as_bytes()))?;
        let allowed = string(env, summary.allowed_path.as_deref())?;
        let disallowed = string(env, summary.disallowed_path.as_deref())?;
        let arguments = [
            JValue::Object(&url),
            JValue::Object(&crawler),
            JValue::Object(&access),
            JValue::Object(&group),
            JValue::Long(summary.allow_rules.into()),
            JValue::Long(summary.disallow_rules.into()),
            JValue::Object(&reason),
            JValue::Object(&allowed),
            JValue::Object(&disallowed),
        ];
        let signature = jni_sig!(
            "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;JJLjava/lang/String;Ljava/lang/String;Ljava/lang/String;)V"
        );
        let row = env.new_object(jni_str!("reptile/natives/Access"), signature, &arguments)?;
        let accept = jni_sig!("(Ljava/lang/Object;)V");
        env.call_method(consumer, jni_str!("accept"), accept, &[JValue::Object(&row)])?;
        Ok(())
    })
}
