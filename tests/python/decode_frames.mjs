// Decodes parts of frames in plain JavaScript, from the comments of frame.proto alone.
//
// node decode_frames.mjs PARTS POSITIONS NORMALS    PARTS: lines of JSON, each a sinew.v1.Frame of one stream, in order
// Writes float32. zstd is Node's own from 22.15 on, else the program zstd.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import zlib from "node:zlib";

const WIDTH = { ENCODING_FLOAT32: 4, ENCODING_Q16: 2, ENCODING_OCT16: 2, ENCODING_OCT8: 1 };
const { fround, abs, sqrt } = Math;

function unzstd(data) {
  if (zlib.zstdDecompressSync) return zlib.zstdDecompressSync(data);
  return spawnSync("zstd", ["-dc"], { input: data, maxBuffer: 1 << 30 }).stdout;
}

function nearest(x) {  // the even one of two
  const low = Math.floor(x);
  return x - low < 0.5 || (x - low === 0.5 && low % 2 === 0) ? low : low + 1;
}

// Unsigned numbers of the part's vertices. base: the whole frame before, { quantisation, numbers }.
function numbersOf(part, data, width, base, first) {
  const count = part.vertexCount;
  const read = (bytes, at) => bytes.readUIntLE(at, width);
  if (part.compression !== "COMPRESSION_ZSTD") {
    return Array.from({ length: data.length / width }, (_, i) => read(data, i * width));
  }
  const planes = unzstd(data), row = planes.length / count, each = row / width;
  const content = Buffer.alloc(planes.length);
  for (let v = 0; v < count; v++) for (let b = 0; b < row; b++) content[v * row + b] = planes[b * count + v];
  const modulo = 256 ** width, numbers = [], sums = [];
  for (let i = 0; i < count * each; i++) {
    const z = read(content, i * width);
    const d = z % 2 === 0 ? z / 2 : -(z + 1) / 2;
    sums.push((((d + (i < each ? 0 : sums[i - each])) % modulo) + modulo) % modulo);
    let b = 0;
    if (base) {
      b = base.numbers[first * each + i];
      if (part.encoding === "ENCODING_Q16" && base.quantisation) {
        const k = i % 3, { origin, step } = part.quantisation, old = base.quantisation;
        const p = fround(fround(old.origin[k]) + fround(fround(old.step[k]) * b));
        const s = fround(fround(p - fround(origin[k])) * fround(1 / fround(step[k])));
        b = nearest(Math.min(Math.max(s, 0), 65535));
      }
    }
    numbers.push((sums[i] + b) % modulo);
  }
  return numbers;
}

function floats(numbers) {
  return Array.from(new Float32Array(new Uint32Array(numbers).buffer));
}

function positionsOf({ encoding, quantisation }, numbers) {
  if (encoding === "ENCODING_FLOAT32") return floats(numbers);
  const { origin, step } = quantisation;
  return numbers.map((q, i) => fround(fround(origin[i % 3]) + fround(fround(step[i % 3]) * q)));
}

function normalsOf({ normalEncoding: encoding }, numbers) {
  if (encoding === "ENCODING_FLOAT32") return floats(numbers);
  const bits = 8 * WIDTH[encoding], scale = 2 ** (bits - 1) - 1, out = [];
  const signed = (q) => (q >= 2 ** (bits - 1) ? q - 2 ** bits : q);
  for (let i = 0; i < numbers.length; i += 2) {
    const u = fround(signed(numbers[i]) / scale), v = fround(signed(numbers[i + 1]) / scale);
    const z = fround(fround(1 - abs(u)) - abs(v)), below = z < 0 ? -z : 0;
    const x = fround(u < 0 ? u + below : u - below), y = fround(v < 0 ? v + below : v - below);
    const length = fround(sqrt(fround(fround(fround(x * x) + fround(y * y)) + fround(z * z))));
    out.push(fround(x / length), fround(y / length), fround(z / length));
  }
  return out;
}

const [parts, positionsFile, normalsFile] = process.argv.slice(2);
const positions = [], normals = [];
let base = null, next = null;
for (const line of readFileSync(parts, "utf8").trim().split("\n")) {
  const part = JSON.parse(line);
  const first = Number(part.vertexOffset ?? 0), building = Number(part.baseFrame ?? 0);
  if (building && building !== base?.frame) throw new Error(`frame ${part.frame} builds on ${building}`);
  next ??= { frame: Number(part.frame), positions: [], normals: [], quantisation: part.quantisation };
  const take = (name, encoding, quantisation) => {
    const of = building ? { numbers: base[name], quantisation } : null;
    const numbers = numbersOf(part, Buffer.from(part[name], "base64"), WIDTH[encoding], of, first);
    for (const number of numbers) next[name].push(number);
    return numbers;
  };
  for (const x of positionsOf(part, take("positions", part.encoding, base?.quantisation))) positions.push(x);
  for (const x of normalsOf(part, take("normals", part.normalEncoding))) normals.push(x);
  if (part.lastChunk) [base, next] = [next, null];
}
writeFileSync(positionsFile, Buffer.from(new Float32Array(positions).buffer));
writeFileSync(normalsFile, Buffer.from(new Float32Array(normals).buffer));
