import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { storeParts } from '../../../dimse/archive/dicomweb-archive.ts';
import type { StorageService } from '../../../dimse/network/service-ports.ts';
import { dataSet, dicomFile } from '../dicom-file.ts';

const PEER = { id: '1', callingAeTitle: '', calledAeTitle: 'SONOGATE', address: 'vna.example' };
const TYPE = 'multipart/related; type="application/dicom"; boundary="a b"';
const object = (number: number) => ({
  sopInstanceUid: `1.2.3.${number}`,
  pixels: Buffer.alloc(200_000, number),
});

/** Keeps the stored objects in memory, but refuses the one whose UID is `refuse`. */
function storage(refuse = '') {
  const kept = new Map<string, Buffer>();
  let discarded = 0;
  const service: StorageService = {
    async open({ sopInstanceUid }) {
      const parts: Buffer[] = [];
      return {
        async write(bytes) {
          if (sopInstanceUid === refuse) throw new Error('the disk is full');
          parts.push(bytes);
        },
        async commit() {
          kept.set(sopInstanceUid, Buffer.concat(parts));
        },
        async discard() {
          discarded += 1;
        },
      };
    },
    async ended() {},
  };
  return { kept, service, discarded: () => discarded };
}

function multipart(files: readonly Buffer[], ending = '\r\n--a b--\r\n'): Buffer {
  const head = '\r\n--a b\r\nContent-Type: application/dicom\r\n\r\n';
  return Buffer.concat([
    ...files.flatMap((file) => [Buffer.from(head), file]),
    Buffer.from(ending),
  ]);
}

function answer(bytes: Buffer, { type = TYPE, size = 65_536 } = {}) {
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += size) {
    pieces.push(bytes.subarray(start, start + size));
  }
  const body = Readable.from(pieces, { objectMode: false });
  return { headers: { 'content-type': type }, body };
}

describe('a WADO-RS response', () => {
  test.each([65_536, 997, 131_072])(
    'in pieces of %i bytes yields each object unchanged',
    async (size) => {
      const { kept, service } = storage();
      const files = [object(1), object(2), object(3)];
      const told = await storeParts(
        answer(multipart(files.map(dicomFile)), { size }),
        service,
        PEER,
      );
      expect(told).toEqual({ stored: 3, failed: 0, detail: '' });
      for (const file of files) {
        expect(kept.get(file.sopInstanceUid)?.equals(dataSet(file))).toBe(true);
      }
    },
  );

  test('may be a single object without parts', async () => {
    const { kept, service } = storage();
    const one = answer(dicomFile(object(1)), { type: 'application/dicom' });
    expect(await storeParts(one, service, PEER)).toMatchObject({ stored: 1 });
    expect([...kept.keys()]).toEqual(['1.2.3.1']);
  });

  test('with one object that cannot be stored loses no other object', async () => {
    const { kept, service, discarded } = storage('1.2.3.2');
    const files = [object(1), object(2), object(3)].map(dicomFile);
    const told = await storeParts(answer(multipart(files)), service, PEER);
    expect(told).toEqual({ stored: 2, failed: 1, detail: 'the disk is full' });
    expect([...kept.keys()]).toEqual(['1.2.3.1', '1.2.3.3']);
    expect(discarded()).toBe(1);
  });

  test('with a part that is not DICOM loses no other object', async () => {
    const { kept, service } = storage();
    const files = [Buffer.from('<html>no</html>'), dicomFile(object(2))];
    const told = await storeParts(answer(multipart(files)), service, PEER);
    expect(told).toMatchObject({ stored: 1, failed: 1 });
    expect([...kept.keys()]).toEqual(['1.2.3.2']);
  });

  test('that breaks off keeps the complete objects and discards the rest', async () => {
    const { kept, service } = storage();
    const whole = multipart([object(1), object(2)].map(dicomFile));
    const cut = answer(whole.subarray(0, whole.length - 100_000));
    await expect(storeParts(cut, service, PEER)).rejects.toMatchObject({
      code: 'peer_unreachable',
    });
    expect([...kept.keys()]).toEqual(['1.2.3.1']);
  });

  test.each(['text/html', 'multipart/related; type="application/dicom"', ''])(
    'with the type "%s" is refused',
    async (type) => {
      const { service } = storage();
      await expect(
        storeParts(answer(Buffer.from('x'), { type }), service, PEER),
      ).rejects.toMatchObject({ code: 'archive_refused_query' });
    },
  );
});
