import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerContexts } from '../../../dimse/network/negotiation.ts';
import { acceptedTransferSyntaxes } from '../../../dimse/receive/presentation-contexts.ts';
import { outgoingFile, sendObjects } from '../../../dimse/send/store-scu.ts';
import { encodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import {
  COMPRESSED_TRANSFER_SYNTAXES,
  LOSSLESS_TRANSFER_SYNTAXES,
  LOSSY_TRANSFER_SYNTAXES,
  TRANSFER_SYNTAXES,
} from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { type StoredObject, startPacs } from '../../../src/app/simulate/pacs.ts';
import { dataSet } from '../dicom-file.ts';
import { ULTRASOUND_IMAGE } from '../network/raw-peer.ts';
import { sendBuffer } from '../send.ts';
import { openSite, type Site } from '../site.ts';

const TAKEN = [...LOSSLESS_TRANSFER_SYNTAXES, ...LOSSY_TRANSFER_SYNTAXES];

describe('the accepted transfer syntaxes', () => {
  test('are those that the reader can decode, each listed once', () => {
    expect([...TAKEN].sort()).toEqual(Object.keys(TRANSFER_SYNTAXES).sort());
  });
});

describe('of several transfer syntaxes in one context', () => {
  const EXPLICIT = '1.2.840.10008.1.2.1';
  const IMPLICIT = '1.2.840.10008.1.2';
  const RLE = '1.2.840.10008.1.2.5';
  const JPEG = '1.2.840.10008.1.2.4.50';
  const JPEG_LOSSLESS = '1.2.840.10008.1.2.4.70';
  const JPEG_2000 = '1.2.840.10008.1.2.4.91';

  test.each([
    ['native before lossy', [JPEG, EXPLICIT], EXPLICIT],
    ['lossless before lossy', [JPEG, JPEG_LOSSLESS], JPEG_LOSSLESS],
    ['lossless before what may be lossy', [JPEG_2000, JPEG_LOSSLESS], JPEG_LOSSLESS],
    ['the first of those that lose nothing', [JPEG, RLE, IMPLICIT, EXPLICIT], RLE],
    ['the first of those that lose nothing', [IMPLICIT, RLE], IMPLICIT],
    ['the first of those that may', [JPEG_2000, JPEG], JPEG_2000],
    ['the first of those that may', [JPEG, JPEG_2000], JPEG],
    ['the one that we know', ['1.2.3', JPEG], JPEG],
  ])('%s is chosen', (_what, transferSyntaxes, taken) => {
    const context = { id: 1, abstractSyntax: ULTRASOUND_IMAGE, transferSyntaxes };
    expect(answerContexts([context], acceptedTransferSyntaxes).answers[0]?.transferSyntax).toBe(
      taken,
    );
  });
});

describe('an object in a compressed transfer syntax', () => {
  let site: Site;
  let folder: string;
  beforeAll(async () => {
    site = await openSite();
    folder = await mkdtemp(join(tmpdir(), 'sonogate-syntaxes-'));
  });
  afterAll(async () => {
    await site.close();
    await rm(folder, { recursive: true });
  });

  /** The code stream is not read until an image is decoded. */
  const object = (transferSyntax: string) => {
    const sopInstanceUid = `1.2.3.${transferSyntax}`;
    const uids = { sopClassUid: ULTRASOUND_IMAGE, sopInstanceUid };
    const titles = { sourceAeTitle: 'CART', receivingAeTitle: 'SONOGATE' };
    const bytes = dataSet(uids);
    return {
      bytes,
      file: Buffer.concat([encodeFileMeta({ ...uids, ...titles, transferSyntax }), bytes]),
    };
  };

  test('is stored and forwarded in the same transfer syntax, byte for byte', async () => {
    const received: StoredObject[] = [];
    const onObject = (arrived: StoredObject) => received.push(arrived);
    const host = '127.0.0.1';
    const pacs = await startPacs({ folder, host, port: 0, onObject });
    for (const transferSyntax of COMPRESSED_TRANSFER_SYNTAXES) {
      expect(await sendBuffer(site.node, object(transferSyntax).file)).toMatchObject({ status: 0 });
    }
    const intake = join(site.config.dataDir, 'intake');
    const names = await readdir(intake, { recursive: true });
    const stored = names.filter((name) => name.endsWith('.dcm'));
    const files = await Promise.all(stored.map((name) => outgoingFile(join(intake, name))));
    const node = { ...site.node, port: pacs.port, aeTitle: 'PACS' };
    const results = await sendObjects(
      node,
      files.map((file) => [file]),
    );
    await pacs.close();
    expect(results.map(({ outcome }) => outcome)).toEqual(files.map(() => 'stored'));
    expect(received.map(({ transferSyntax }) => transferSyntax).sort()).toEqual(
      [...COMPRESSED_TRANSFER_SYNTAXES].sort(),
    );
    for (const { path, transferSyntax } of received) {
      const { bytes } = object(transferSyntax);
      expect((await readFile(path)).subarray(-bytes.length).equals(bytes)).toBe(true);
    }
  });
});
