import { describe, expect, it } from 'vitest';
import type { PhantomFrame } from '../../../models/phantom/frame.ts';
import { MEDIAN_GROWTH, sizesAt } from '../../../models/phantom/sizes.ts';
import { earlyPregnancy } from '../../../models/phantom/views/early-pregnancy.ts';
import { locateContents } from '../../../pipelines/obstetric/early-pregnancy/locate-contents.ts';
import { locateSacs } from '../../../pipelines/obstetric/early-pregnancy/locate-sac.ts';
import { EARLY_UNCERTAINTY } from '../../../pipelines/obstetric/early-pregnancy/measure.ts';

/** No threshold was chosen with these seeds. */
function simulate(gaDays: number, seed: number, anatomy: Record<string, number>): PhantomFrame {
  const [frame] = earlyPregnancy.simulate({
    gaDays,
    // Sizes of a larger fetus, which an early view ignores.
    sizes: sizesAt(98, MEDIAN_GROWTH),
    seed,
    frames: 1,
    anatomy,
    screen: { columns: 640, rows: 480 },
    masks: false,
  });
  if (!frame) throw new Error('no frame');
  return frame;
}

function read({ columns, rows, gray, truth }: PhantomFrame) {
  const image = { width: columns, height: rows, data: gray };
  const [sac = null] = locateSacs(image);
  const scale = { x: truth.mmPerPixel, y: truth.mmPerPixel };
  return { sac, contents: sac && locateContents(image, sac, scale), mm: truth.mmPerPixel };
}

describe('an early pregnancy on phantoms', () => {
  const cases = [
    { days: 47, seed: 8101 },
    { days: 53, seed: 8102 },
    { days: 60, seed: 8103 },
  ].map(({ days, seed }) => simulate(days, seed, { transverse: 0 }));
  const read3 = cases.map((frame) => ({ values: frame.truth.values ?? {}, ...read(frame) }));
  const accepted = read3.filter(({ sac }) => sac?.accepted);

  it('has most of its sacs accepted', () => {
    expect(accepted.length).toBeGreaterThanOrEqual(2);
  });

  it('has the diameters of an accepted sac and its CRL within the stated tolerance', () => {
    for (const { sac, contents, mm, values } of accepted) {
      const { sacLongMm = 0, sacShortMm = 0, crlMm = 0 } = values;
      const { a = 0, b = 0 } = sac?.ellipse ?? {};
      expect(Math.abs(2 * a * mm - sacLongMm)).toBeLessThan(EARLY_UNCERTAINTY.sac);
      expect(Math.abs(2 * b * mm - sacShortMm)).toBeLessThan(EARLY_UNCERTAINTY.sac);
      const [from, to] = contents?.embryo?.ends ?? [];
      const crl = from && to ? Math.hypot(to.x - from.x, to.y - from.y) * mm : 0;
      expect(Math.abs(crl - crlMm)).toBeLessThan(EARLY_UNCERTAINTY.crl);
    }
  });

  it('has no embryo if there is none', () => {
    const frame = simulate(50, 8104, { transverse: 0, crlMm: 0, yolkSacMm: 0, msdMm: 20 });
    const { sac, contents } = read(frame);
    expect(sac?.accepted).toBe(true);
    expect(contents?.embryo).toBeNull();
    expect(contents?.yolkSac).toBeNull();
  });
});

describe('an image without a sac', () => {
  it('has no sac: an even image, a black image', () => {
    const even = { width: 320, height: 240, data: new Uint8Array(320 * 240).fill(90) };
    expect(locateSacs(even)).toEqual([]);
    expect(locateSacs({ ...even, data: new Uint8Array(320 * 240) })).toEqual([]);
  });
});
