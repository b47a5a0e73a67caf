//! Reads one JSON object a line, answers with one JSON object a line.
//!
//! `{"request": …, "block_size": n}` gives a request's hashes, `{"stream": …}` the results of
//! operations on a `TokenBlockSequence`, `{"lineage": …}` single `PositionalLineageHash`es. 128-bit
//! numbers and bytes are hex. What the crates return as an error is `{"error": …}`, what they panic
//! over is `{"panic": …}`.

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use dynamo_kv_hashing::{KvHashingError, Request, RequestMmObjectInfo, UniversalBlock};
use dynamo_tokens::{
    MmInfoError, PositionalLineageHash, TokenBlockError, TokenBlockMmInfo, TokenBlockSequence,
    Tokens,
};
use serde_json::{Value, json};

type Answer = Result<Value, Value>;

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let answer = guarded(|| {
            if let Some(fields) = question.get("request") {
                request(fields, number(&question["block_size"]) as u32)
            } else if let Some(fields) = question.get("stream") {
                stream(fields)
            } else {
                lineage(&question["lineage"])
            }
        });
        writeln!(out, "{answer}").expect("stdout");
    }
}

fn guarded(work: impl FnOnce() -> Answer) -> Value {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => json!({ "error": error }),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            json!({ "panic": text.unwrap_or_default() })
        }
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a u64")
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_string)
}

fn tokens(value: &Value) -> Vec<u32> {
    let items = value.as_array().expect("tokens");
    items.iter().map(|item| number(item) as u32).collect()
}

fn runs(value: &Value) -> Vec<TokenBlockMmInfo> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .map(|run| TokenBlockMmInfo {
            mm_hash: number(&run[0]),
            offset: number(&run[1]) as usize,
            length: number(&run[2]) as usize,
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn run_error(error: MmInfoError) -> Value {
    match error {
        MmInfoError::EmptyRun => json!(["EmptyRun"]),
        MmInfoError::OffsetOverflow { offset, length } => json!(["OffsetOverflow", offset, length]),
        MmInfoError::OutOfBounds { offset, length, tokens_len } => {
            json!(["OutOfBounds", offset, length, tokens_len])
        }
        MmInfoError::Overlapping { position } => json!(["Overlapping", position]),
    }
}

fn block_error(error: TokenBlockError) -> Value {
    match error {
        TokenBlockError::MmInfo(error) => run_error(error),
        other => json!([format!("{other:?}")]),
    }
}

fn hashing_error(error: KvHashingError) -> Value {
    match error {
        KvHashingError::MmInfo(error) => run_error(error),
        KvHashingError::TokenBlock(error) => block_error(error),
        KvHashingError::MissingField(name) => json!(["MissingField", name]),
        KvHashingError::SaltSerialization(error) => json!(["SaltSerialization", error.to_string()]),
    }
}

fn request(fields: &Value, block_size: u32) -> Answer {
    let mut builder = Request::builder()
        .lora_name(text(&fields["lora_name"]))
        .salt(text(&fields["salt"]))
        .mm_info(runs(&fields["mm_info"]).into_iter().map(RequestMmObjectInfo::from).collect());
    if !fields["tokens"].is_null() {
        builder = builder.tokens(tokens(&fields["tokens"]));
    }
    let request = builder.build().map_err(hashing_error)?;
    let blocks = request.into_blocks(block_size).map_err(hashing_error)?;
    let order: Vec<_> = request.mm_info().iter().map(|run| run.offset).collect();
    Ok(json!({
        "salt_hash": request.salt_hash().map_err(hashing_error)?,
        "block_hashes": request.block_hashes(block_size).map_err(hashing_error)?,
        "sequence_hashes": request.sequence_hashes(block_size).map_err(hashing_error)?,
        "plh": request
            .positional_lineage_hashes(block_size)
            .map_err(hashing_error)?
            .iter()
            .map(|plh| format!("{:032x}", plh.as_u128()))
            .collect::<Vec<_>>(),
        "text": blocks.iter().map(|block| block.plh.to_string()).collect::<Vec<_>>(),
        "json": blocks.iter().map(as_json).collect::<Vec<_>>(),
        "msgpack": blocks.iter().map(as_msgpack).collect::<Vec<_>>(),
        "run_offsets": order,
    }))
}

fn as_json(block: &UniversalBlock) -> String {
    serde_json::to_string(block).expect("JSON")
}

fn as_msgpack(block: &UniversalBlock) -> String {
    hex(&rmp_serde::to_vec(block).expect("MessagePack"))
}

fn stream(fields: &Value) -> Answer {
    let size = number(&fields["block_size"]) as u32;
    let start = Tokens::from(tokens(&fields["tokens"]));
    let salt = fields["salt_hash"].as_u64();
    let mut sequence = if fields["mm_info"].is_null() {
        TokenBlockSequence::new(start, size, salt)
    } else {
        TokenBlockSequence::new_with_mm(start, &runs(&fields["mm_info"]), size, salt)
            .map_err(block_error)?
    };
    let mut results = Vec::new();
    for operation in fields["operations"].as_array().expect("operations") {
        let result = guarded(|| operate(&mut sequence, operation));
        results.push(json!([result, sequence.total_tokens(), sequence.blocks().len()]));
    }
    let blocks: Vec<_> = sequence
        .blocks()
        .iter()
        .map(|block| {
            let plh = block.positional_lineage_hash();
            json!([block.block_hash(), format!("{:032x}", plh.as_u128())])
        })
        .collect();
    let kept: Vec<_> = sequence
        .mm_runs()
        .iter()
        .map(|run| json!([run.mm_hash, run.offset, run.length]))
        .collect();
    Ok(json!({
        "results": results,
        "blocks": blocks,
        "runs": kept,
        "tail": sequence.current_block().tokens().to_vec(),
        "tokens": sequence.tokens_at(0..sequence.total_tokens()).to_vec(),
    }))
}

fn operate(sequence: &mut TokenBlockSequence, operation: &Value) -> Answer {
    let (name, first) = (operation[0].as_str().expect("a name"), &operation[1]);
    let completed = match name {
        "append" => sequence.append(number(first) as u32).map(|at| at.map(|i| i..i + 1)),
        "push_token" => sequence.push_token(number(first) as u32).map(|at| at.map(|i| i..i + 1)),
        "extend" => sequence.extend(Tokens::from(tokens(first))),
        "push_mm_run" => sequence.push_mm_run(number(first), number(&operation[2]) as usize),
        "extend_with_mm" => sequence.extend_with_mm(&tokens(first), &runs(&operation[2])),
        "truncate" => sequence.truncate(number(first) as usize).map(|()| None),
        "unwind" => sequence.unwind(number(first) as usize).map(|()| None),
        "pop" => return sequence.try_pop().map(|token| json!(token)).map_err(block_error),
        "reset" => {
            sequence.reset();
            Ok(None)
        }
        "tokens_at" => {
            let (start, stop) = (number(first) as usize, number(&operation[2]) as usize);
            return Ok(json!(sequence.tokens_at(start..stop).to_vec()));
        }
        other => panic!("no operation {other}"),
    };
    let range = completed.map_err(block_error)?;
    Ok(json!(range.map(|range| [range.start, range.end])))
}

fn lineage(fields: &Value) -> Answer {
    let plh = match fields["bytes"].as_array() {
        Some(octets) => {
            let text = serde_json::to_string(octets).expect("JSON");
            serde_json::from_str(&text).map_err(|error| json!([error.to_string()]))?
        }
        None => PositionalLineageHash::new(
            number(&fields["current"]),
            fields["parent"].as_u64(),
            number(&fields["position"]),
        ),
    };
    let child = number(&fields["child_position"]);
    Ok(json!({
        "plh": format!("{:032x}", plh.as_u128()),
        "text": plh.to_string(),
        "mode": plh.mode(),
        "position": plh.position(),
        "current": plh.current_sequence_hash(),
        "fragment": plh.parent_hash_fragment(),
        "fragment_for_child": plh.parent_fragment_for_child_position(child),
        "extended": guarded(|| {
            Ok(json!(format!("{:032x}", plh.extend(number(&fields["child_hash"])).as_u128())))
        }),
        "json": serde_json::to_string(&plh).expect("JSON"),
        "msgpack": hex(&rmp_serde::to_vec(&plh).expect("MessagePack")),
    }))
}
