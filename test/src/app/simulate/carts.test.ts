import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { outgoingBuffer } from '../../../../dimse/send/store-scu.ts';
import { type StudyHeader, writeUltrasound } from '../../../../models/phantom/dicom.ts';
import { simulateCine } from '../../../../models/phantom/frame.ts';
import { sizesAt } from '../../../../models/phantom/sizes.ts';
import { decodeFileMeta } from '../../../../pipelines/dicom/part10.ts';
import { JPEG_BASELINE } from '../../../../pipelines/dicom/transfer-syntaxes.ts';
import { asCartFile } from '../../../../src/app/simulate/cart.ts';
import { imageContexts, sendStudy } from '../../../../src/app/simulate/cart-study.ts';
import {
  CART_STYLES,
  CARTS,
  type Cart,
  type CartStyle,
  PLAIN_CART,
} from '../../../../src/app/simulate/carts.ts';
import { sendPlainStudy } from '../../../../src/app/simulate/dcmjs-client.ts';
import {
  findStudy,
  type InstanceRow,
  instancesOf,
} from '../../../../src/core/studies/study-store.ts';
import type { PooledDatabase } from '../../../../src/platform/database/open.ts';
import { openSite, type Site } from '../../../dimse/site.ts';

type Compression = Cart['compression'];
const files: Record<Compression, Buffer[]> = { native: [], jpeg: [] };

const STUDY: StudyHeader = {
  patientName: 'CART^TEST',
  patientId: 'CART-1',
  patientBirthDate: '19900101',
  patientAge: '036Y',
  patientSizeMetres: 1.7,
  patientWeightKg: 70,
  studyInstanceUid: '2.25.7001',
  seriesInstanceUid: '2.25.7002',
  studyId: '1',
  studyDate: '20260115',
  studyTime: '101500',
  accessionNumber: 'C1',
  studyDescription: 'Obstetric',
};
const studyInstanceUid = STUDY.studyInstanceUid;

/** A small still and a small cine, because only the way in which they are sent matters. */
beforeAll(async () => {
  const screen = { columns: 160, rows: 120 };
  const cine = simulateCine({ plane: 'femur', sizes: sizesAt(140), seed: 1, screen }, 3);
  for (const compression of ['native', 'jpeg'] as const) {
    const encoding = { compression, colour: 'rgb' } as const;
    files[compression] = await Promise.all(
      [cine.slice(0, 1), cine].map((frames, index) =>
        writeUltrasound(frames, STUDY, {
          sopInstanceUid: `2.25.7003${index}`,
          instanceNumber: index + 1,
          encoding,
        }),
      ),
    );
  }
});

let site: Site | null = null;
afterEach(async () => {
  await site?.close();
  site = null;
});

/**
 * For each style, the sign of completeness that the gateway receives and the reason that it
 * records.
 */
const SIGN: Record<CartStyle, { signal: 'quiet-time' | 'association-release'; because: string }> = {
  ge: { signal: 'quiet-time', because: 'performed-procedure' },
  philips: { signal: 'association-release', because: 'association-release' },
  samsung: { signal: 'association-release', because: 'quiet-time' },
  mindray: { signal: 'association-release', because: 'quiet-time' },
  canon: { signal: 'quiet-time', because: 'performed-procedure' },
};

describe.each(CART_STYLES)('a study from a cart of the style %s', (style) => {
  test("is kept byte for byte and completed by the cart's sign of completeness", async () => {
    const cart: Cart = CARTS[style];
    const { signal, because } = SIGN[style];
    site = await openSite({
      completion: { signal, quietSeconds: 600, afterReleaseSeconds: 5 },
    });
    const objects = files[cart.compression].map((file) => outgoingBuffer(asCartFile(file, cart)));
    const outcome = await sendStudy(
      { host: '127.0.0.1', port: site.gateway.port, aeTitle: 'SONOGATE' },
      cart,
      { objects, studyInstanceUid },
    );
    expect(outcome).toEqual({
      stored: objects.map(() => 0),
      performedProcedure: cart.performedProcedure ? [0, 0] : null,
      committed: cart.commitment ? objects.length : null,
    });

    const { database, config } = site;
    const kept = await keptInstances(database, objects.length);
    expect(kept.map(({ transfer_syntax }) => transfer_syntax)).toEqual(
      objects.map(() => cart.transferSyntaxes[0]),
    );
    for (const [index, object] of objects.entries()) {
      const file = await readFile(join(config.dataDir, kept[index]?.path ?? ''));
      const { meta, dataSetOffset } = decodeFileMeta(file);
      expect(meta).toMatchObject({
        sopClassUid: index === 0 ? cart.classes.still : cart.classes.cine,
        sourceAeTitle: cart.callingAeTitle,
      });
      expect(file.subarray(dataSetOffset).equals(Buffer.concat([...dataSetOf(object)]))).toBe(true);
    }

    if (because === 'quiet-time') {
      site.pass(590);
      expect((await findStudy(database, studyInstanceUid))?.state).toBe('receiving');
      site.pass(11);
    } else {
      // The next round detects the sign and sets a deadline five seconds later.
      await expect
        .poll(async () => (await findStudy(database, studyInstanceUid))?.complete_because)
        .toBe(because);
      site.pass(6);
    }
    await expect
      .poll(async () => (await findStudy(database, studyInstanceUid))?.state)
      .not.toBe('receiving');
    expect(await findStudy(database, studyInstanceUid)).toMatchObject({
      complete_because: because,
      instance_count: objects.length,
    });
  });
});

describe('a study from a plain cart', () => {
  test('is sent by dcmjs-dimse with MPPS, frames as they are, and kept byte for byte', async () => {
    site = await openSite();
    const objects = files.jpeg.map((file) => asCartFile(file, PLAIN_CART));
    const node = { host: '127.0.0.1', port: site.gateway.port, aeTitle: 'SONOGATE' };
    const outcome = await sendPlainStudy(
      { ...node, callingAeTitle: PLAIN_CART.callingAeTitle },
      { files: objects, studyInstanceUid },
    );
    expect(outcome).toEqual({ stored: [0, 0], performedProcedure: [0, 0], committed: null });
    const kept = await keptInstances(site.database, objects.length);
    for (const [index, object] of objects.entries()) {
      const file = await readFile(join(site.config.dataDir, kept[index]?.path ?? ''));
      const { meta, dataSetOffset } = decodeFileMeta(file);
      expect(meta).toMatchObject({ transferSyntax: JPEG_BASELINE, sourceAeTitle: 'CART' });
      const sent = object.subarray(decodeFileMeta(object).dataSetOffset);
      expect(file.subarray(dataSetOffset).equals(sent)).toBe(true);
    }
  });
});

describe('the presentation contexts of a cart', () => {
  test.each(CART_STYLES)('%s: odd ids, at most 128 of them', (style) => {
    const ids = imageContexts(CARTS[style]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => id % 2 === 1 && id < 256)).toBe(true);
  });

  test('one for each syntax lists every syntax of a class once', () => {
    const { classes, transferSyntaxes } = CARTS.ge;
    const own = imageContexts(CARTS.ge).filter((c) => c.abstractSyntax === classes.still);
    expect(own.map((context) => context.transferSyntaxes)).toEqual(
      transferSyntaxes.map((syntax) => [syntax]),
    );
  });
});

/** Waits until the objects have their rows, which are written after the cart got its responses. */
async function keptInstances(database: PooledDatabase, count: number): Promise<InstanceRow[]> {
  return await vi.waitUntil(async () => {
    const study = await findStudy(database, studyInstanceUid);
    const kept = study ? await instancesOf(database, study) : [];
    return kept.length === count && kept;
  }, 10_000);
}

function dataSetOf(object: ReturnType<typeof outgoingBuffer>): Iterable<Buffer> {
  return object.read(object.bytes) as Iterable<Buffer>;
}
