//! From the bytes of the results channel to results, or to the reason why there are none.

use super::record::{Begun, Done, End, Failed, Record, Repeated};
use super::{BenchmarkResult, Facts, Lost, Measured, Measurement, Repeat, Results, Sample};

/// The protocol that is understood.
const PROTOCOL: u64 = 1;
/// No repeat takes longer, whatever clock it is measured by.
const A_DAY_NS: u64 = 86_400_000_000_000;
/// One step of the clock may be this small part of what was measured; the guest holds to the same.
const STEPS_WANTED: u64 = 100;

/// Reads a results channel. The end record is checked before anything else is looked at.
///
/// # Errors
///
/// Whatever is not exactly a whole and sound stream: nothing of it counts then.
pub fn read(bytes: &[u8]) -> Result<Results, Lost> {
    let lines = sealed(bytes)?;
    let end = lines.len() + 1;
    let mut reader = Reader::default();
    for (line, bytes) in (1..).zip(lines) {
        reader.take(line, parse(line, bytes)?)?;
    }
    reader.finish(end)
}

/// The lines before the end record, once that is known to be right.
fn sealed(bytes: &[u8]) -> Result<Vec<&[u8]>, Lost> {
    if bytes.is_empty() {
        return Err(Lost::Empty);
    }
    let mut lines: Vec<_> = bytes.split(|&byte| byte == b'\n').collect();
    // What follows the last line end
    if lines.pop().is_some_and(|rest| !rest.is_empty()) {
        return Err(Lost::Cut { line: lines.len() + 1 });
    }
    let last = lines.pop().unwrap_or_default();
    let Ok(Record::End(end)) = serde_json::from_slice(last) else {
        let early = lines.iter().position(|line| line.starts_with(b"{\"end\":"));
        return Err(early.map_or(Lost::NoEnd, |at| Lost::AfterEnd { lines: lines.len() - at }));
    };
    check(&end, &lines, &bytes[..bytes.len() - last.len() - 1])?;
    Ok(lines)
}

fn check(end: &End, lines: &[&[u8]], body: &[u8]) -> Result<(), Lost> {
    let found = format!("{:08x}", crc32fast::hash(body));
    if end.crc32 != found {
        return Err(Lost::Checksum { said: end.crc32.clone(), found });
    }
    let count = lines.len() as u64;
    if end.records != count {
        return Err(Lost::Count { said: end.records, found: count });
    }
    Ok(())
}

fn parse(line: usize, bytes: &[u8]) -> Result<Record, Lost> {
    if !bytes.is_ascii() {
        return Err(Lost::Syntax { line, error: "a byte is no ASCII".into() });
    }
    serde_json::from_slice(bytes).map_err(|error| Lost::Syntax { line, error: error.to_string() })
}

/// The records so far.
#[derive(Default)]
struct Reader {
    greeted: bool,
    facts: Option<Facts>,
    open: Option<(Begun, Vec<Repeat>)>,
    benchmarks: Vec<BenchmarkResult>,
    failures: Vec<super::GuestFailure>,
}

impl Reader {
    fn take(&mut self, line: usize, record: Record) -> Result<(), Lost> {
        match record {
            Record::Hello(hello) if !self.greeted => {
                self.greeted = true;
                demand(hello.protocol == PROTOCOL, || Lost::Protocol { found: hello.protocol, known: PROTOCOL })
            }
            Record::Facts(facts) if self.greeted && self.facts.is_none() => {
                self.facts = Some(facts);
                Ok(())
            }
            Record::Benchmark(begun) if self.is_idle() => self.begin(line, begun),
            Record::Repeat(repeat) if self.is_at(&repeat.benchmark) => self.repeat(line, &repeat),
            Record::Done(done) if self.is_at(&done.benchmark) => self.done(line, &done),
            Record::Failed(failed) if self.facts.is_some() => self.failed(line, failed),
            other => Err(self.unexpected(line, other.kind())),
        }
    }

    fn is_idle(&self) -> bool {
        self.facts.is_some() && self.open.is_none()
    }

    fn is_at(&self, benchmark: &str) -> bool {
        self.open.as_ref().is_some_and(|(begun, _)| begun.name == benchmark)
    }

    fn unexpected(&self, line: usize, found: &str) -> Lost {
        let wanted = match (&self.open, &self.facts) {
            (Some((begun, _)), _) => format!("a `repeat`, `done` or `failed` of {}", begun.name),
            (None, Some(_)) => "a `benchmark`, `failed` or `end`".to_owned(),
            (None, None) if self.greeted => "`facts`".to_owned(),
            (None, None) => "`hello`".to_owned(),
        };
        Lost::Unexpected { line, found: found.to_owned(), wanted }
    }

    fn begin(&mut self, line: usize, begun: Begun) -> Result<(), Lost> {
        self.check_new(line, &begun)?;
        // Idle means that the facts are there
        let seed = self.facts.as_ref().map_or(0, |facts| facts.seed);
        contradiction(line, "the seed", begun.seed, seed)?;
        self.open = Some((begun, Vec::new()));
        Ok(())
    }

    /// A plan may hold a benchmark several times, but not with the same parameters.
    fn check_new(&self, line: usize, begun: &Begun) -> Result<(), Lost> {
        let parameters = |known: &BenchmarkResult| known.settings.as_ref().map(|settings| settings.parameters.clone());
        let same = |known: &BenchmarkResult| {
            known.name == begun.name && parameters(known).is_some_and(|parameters| parameters == begun.parameters)
        };
        let known = self.benchmarks.iter().any(same);
        demand(!known, || Lost::Duplicate { line, benchmark: begun.name.clone() })
    }

    fn repeat(&mut self, line: usize, repeat: &Repeated) -> Result<(), Lost> {
        let Some((begun, repeats)) = &self.open else { return Ok(()) };
        let index = u32::try_from(repeats.len()).unwrap_or(u32::MAX);
        contradiction(line, "the index", repeat.index, index)?;
        contradiction(line, "the operations", repeat.operations, begun.operations)?;
        contradiction(line, "the warm-up", repeat.warmup, index < begun.warmups)?;
        // A clock that stood still, not a fast kernel
        demand(repeat.elapsed_ns > 0, || Lost::Nothing { line, benchmark: repeat.benchmark.clone() })?;
        self.sensible(line, repeat)?;
        let Some((_, repeats)) = &mut self.open else { return Ok(()) };
        repeats.push(repeat.repeat());
        Ok(())
    }

    /// Refuses times that no repeat can have, as a clock that jumps gives them, and those that its steps are too long for.
    fn sensible(&self, line: usize, repeat: &Repeated) -> Result<(), Lost> {
        let Some(facts) = &self.facts else { return Ok(()) };
        for (what, found) in [("the time", repeat.elapsed_ns), ("the drain", repeat.drain_ns)] {
            demand(found <= A_DAY_NS, || Lost::Absurd { line, what: what.to_owned(), found })?;
        }
        let (elapsed_ns, step_ns) = (repeat.elapsed_ns, facts.clock_resolution_ns);
        demand(elapsed_ns / STEPS_WANTED >= step_ns, || Lost::Coarse { line, elapsed_ns, step_ns })?;
        // Without a tick there is no dither
        let within = repeat.dither_ns < facts.tick_ns.max(1);
        demand(within, || Lost::Contradiction {
            line,
            what: "the dither".to_owned(),
            found: repeat.dither_ns.to_string(),
            wanted: format!("less than {}", facts.tick_ns),
        })
    }

    fn done(&mut self, line: usize, done: &Done) -> Result<(), Lost> {
        let Some((begun, repeats)) = self.open.take() else { return Ok(()) };
        contradiction(line, "the repeats", u64::from(done.repeats), repeats.len() as u64)?;
        contradiction(line, "the repeats", repeats.len() as u64, u64::from(begun.warmups) + u64::from(begun.repeats))?;
        demand(begun.repeats > 0, || Lost::Nothing { line, benchmark: begun.name.clone() })?;
        let measured = Measured {
            sample: Sample { seed: begun.seed, repeats },
            drain: done.drain,
            mem_available_before_kib: done.mem_available_before_kib,
            mem_available_after_kib: done.mem_available_after_kib,
        };
        self.close(begun.name.clone(), Some(&begun), Measurement::Measured(measured));
        Ok(())
    }

    fn failed(&mut self, line: usize, failed: Failed) -> Result<(), Lost> {
        match (self.open.take(), failed.benchmark.clone()) {
            (Some((begun, _)), Some(name)) if begun.name == name => {
                self.close(name, Some(&begun), Measurement::Failed(failed.failure()));
            }
            (None, Some(name)) => {
                self.close(name, None, Measurement::Failed(failed.failure()));
            }
            (None, None) => self.failures.push(failed.failure()),
            (open @ Some(_), _) => {
                self.open = open;
                return Err(self.unexpected(line, "failed"));
            }
        }
        Ok(())
    }

    fn close(&mut self, name: String, begun: Option<&Begun>, outcome: Measurement) {
        self.benchmarks.push(BenchmarkResult { name, settings: begun.map(Begun::settings), outcome });
    }

    /// The end record has come, in this line.
    fn finish(self, line: usize) -> Result<Results, Lost> {
        if !self.is_idle() {
            return Err(self.unexpected(line, "end"));
        }
        let Reader { facts, benchmarks, failures, .. } = self;
        facts.map(|facts| Results { facts, benchmarks, failures }).ok_or(Lost::NoEnd)
    }
}

fn demand(holds: bool, lost: impl FnOnce() -> Lost) -> Result<(), Lost> {
    if holds { Ok(()) } else { Err(lost()) }
}

fn contradiction<T: PartialEq + ToString>(line: usize, what: &str, found: T, wanted: T) -> Result<(), Lost> {
    demand(found == wanted, || Lost::Contradiction {
        line,
        what: what.to_owned(),
        found: found.to_string(),
        wanted: wanted.to_string(),
    })
}

#[cfg(test)]
mod tests;
