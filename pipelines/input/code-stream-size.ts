/** What a compressed frame says of itself, before a decoder allocates memory for it. */
export interface CodeStreamSize {
  width: number;
  height: number;
  components: number;
}

const SOC_SIZ = 0xff4fff51;
/** JP2 boxes before a JPEG 2000 code stream, which some writers leave in, are shorter. */
const MOST_BOXES = 512;

/** Start of frame: SOF0 to SOF15 (ITU-T T.81 Table B.1) without DHT, JPG and DAC, and T.87's SOF55. */
function isStartOfFrame(marker: number): boolean {
  const sof = marker >= 0xc0 && marker <= 0xcf;
  return (sof && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) || marker === 0xf7;
}

/** The SIZ segment of a JPEG 2000 code stream (ITU-T T.800 A.5.1). */
function jpeg2000Size(bytes: Buffer): CodeStreamSize | null {
  const last = Math.min(MOST_BOXES, bytes.length - 42);
  for (let at = 0; at <= last; at += 1) {
    if (bytes.readUInt32BE(at) !== SOC_SIZ) continue;
    return {
      width: bytes.readUInt32BE(at + 8) - bytes.readUInt32BE(at + 16),
      height: bytes.readUInt32BE(at + 12) - bytes.readUInt32BE(at + 20),
      components: bytes.readUInt16BE(at + 40),
    };
  }
  return null;
}

/** The first frame header of a JPEG or JPEG-LS stream (ITU-T T.81 B.2.2). */
function jpegSize(bytes: Buffer): CodeStreamSize | null {
  let at = 2;
  while (at + 10 <= bytes.length) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isStartOfFrame(marker)) {
      return {
        height: bytes.readUInt16BE(at + 5),
        width: bytes.readUInt16BE(at + 7),
        components: bytes[at + 9] ?? 0,
      };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

/** The size in the code stream of JPEG, JPEG-LS or JPEG 2000; null where none is found. */
export function codeStreamSize(encoded: Uint8Array): CodeStreamSize | null {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  if (bytes.length < 4) return null;
  return bytes.readUInt16BE(0) === 0xffd8 ? jpegSize(bytes) : jpeg2000Size(bytes);
}
