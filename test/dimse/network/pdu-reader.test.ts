import { describe, expect, test } from 'vitest';
import { encodeData, encodeReleaseRequest, PDU } from '../../../dimse/network/pdu.ts';
import { type PduEvent, PduReader } from '../../../dimse/network/pdu-reader.ts';
import { associateRequest, dataPdu } from './raw-peer.ts';

const LIMITS = { first: [PDU.associateRequest], maxPduBytes: 4096 };
/**
 * Number of bytes by which peers may exceed the maximum, because not all of them count headers the
 * same way.
 */
const SLACK = 1024;

function readAll(chunks: readonly Buffer[], limits = LIMITS): PduEvent[] {
  const reader = new PduReader(limits);
  return chunks.flatMap((chunk) => [...reader.read(chunk)]);
}

/** Joins the pieces of each value, so that streams cut at different points can be compared. */
function joined(events: readonly PduEvent[]): string[] {
  const lines: string[] = [];
  let open = '';
  for (const event of events) {
    if (event.kind === 'pdu') lines.push(`pdu ${event.type} ${event.body.toString('hex')}`);
    else {
      open += event.data.toString('hex');
      if (!event.last) continue;
      lines.push(`value ${event.contextId} ${event.command} ${open}`);
      open = '';
    }
  }
  return lines;
}

function header(type: number, length: number): Buffer {
  const bytes = Buffer.from([type, 0, 0, 0, 0, 0]);
  bytes.writeUInt32BE(length, 2);
  return bytes;
}

const association = associateRequest();
const stream = Buffer.concat([
  association,
  ...encodeData(1, Buffer.from('command!'), { command: true, last: true }),
  dataPdu([Buffer.from('first'), Buffer.from('second')], false),
  dataPdu([Buffer.from('third'), Buffer.alloc(0), Buffer.from('fourth')], true),
  encodeReleaseRequest(),
]);

describe('the PDU reader', () => {
  test('reads a stream in order, including several values in one PDU', () => {
    const read = joined(readAll([stream]));
    expect(read.slice(1, 3)).toEqual([
      `value 1 true ${Buffer.from('command!').toString('hex')}`,
      `value 3 false ${Buffer.from('firstsecondthirdfourth').toString('hex')}`,
    ]);
    expect(read).toHaveLength(4);
  });

  test.each([1, 2, 3, 5, 7, 11, 64])(
    'returns the same when the stream arrives in pieces of %i bytes',
    (size) => {
      const pieces: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size) pieces.push(stream.subarray(at, at + size));
      expect(joined(readAll(pieces))).toEqual(joined(readAll([stream])));
    },
  );

  test('passes data on before the PDU is complete, so that nothing accumulates', () => {
    const begun = Buffer.concat([association, header(4, 4000), Buffer.from('00000f9c0300', 'hex')]);
    const events = readAll([begun, Buffer.alloc(1000)]);
    expect(events.at(-1)).toMatchObject({ kind: 'fragment', last: false });
    expect(events.at(-1)).toHaveProperty('data.length', 1000);
  });

  test.each([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n'), 'not_dicom'],
    ['a TLS hello on a plain port', Buffer.from('160301020001', 'hex'), 'not_dicom'],
    ['data before the association', header(4, 100), 'unexpected_pdu'],
    ['a release before the association', header(5, 4), 'unexpected_pdu'],
    ['an A-ASSOCIATE-RQ of 64 KiB and a byte', header(1, 65_537), 'pdu_too_large'],
    ['an A-ASSOCIATE-RQ of 2 GiB', header(1, 0x7fffffff), 'pdu_too_large'],
    ['an A-ASSOCIATE-RQ of 3 bytes', header(1, 3), 'unexpected_pdu'],
  ])('refuses %s at its header', (_what, bytes, code) => {
    expect(() => readAll([bytes])).toThrowError(expect.objectContaining({ code }));
  });

  test('is inside a PDU from its first byte to its last', () => {
    const reader = new PduReader(LIMITS);
    const insideAfter = (bytes: Buffer) => {
      for (const _event of reader.read(bytes));
      return reader.insidePdu;
    };
    const release = encodeReleaseRequest();
    expect(reader.insidePdu).toBe(false);
    expect(insideAfter(association)).toBe(false);
    expect(insideAfter(release.subarray(0, 1)), 'one byte of a header').toBe(true);
    expect(insideAfter(release.subarray(1, 6)), 'a header without its body').toBe(true);
    expect(insideAfter(release.subarray(6, 7)), 'a byte of the body').toBe(true);
    expect(insideAfter(release.subarray(7))).toBe(false);
  });

  test('accepts the header of an A-ASSOCIATE-RQ of exactly 64 KiB', () => {
    expect(() => readAll([header(1, 65_536)])).not.toThrow();
  });

  test('accepts data up to the announced maximum plus its tolerance, and not one byte more', () => {
    const longest = LIMITS.maxPduBytes + SLACK;
    expect(() => readAll([association, header(4, longest)])).not.toThrow();
    expect(() => readAll([association, header(4, longest + 1)])).toThrowError(
      expect.objectContaining({ code: 'pdu_too_large' }),
    );
  });

  test.each([
    ['longer than its PDU', '0000000a0302'],
    ['without room for its control header', '000000010302'],
    ['followed by less than another header', '000000040302'],
  ])('refuses a value %s', (_what, value) => {
    const pdu = Buffer.concat([header(4, 12), Buffer.from(value, 'hex'), Buffer.alloc(6)]);
    expect(() => readAll([association, pdu])).toThrowError(
      expect.objectContaining({ code: 'unexpected_pdu' }),
    );
  });
});
