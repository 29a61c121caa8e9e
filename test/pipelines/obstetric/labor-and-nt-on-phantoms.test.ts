import { afterAll, describe, expect, it } from 'vitest';
import type { PhantomFrame } from '../../../models/phantom/frame.ts';
import { sizesAt } from '../../../models/phantom/sizes.ts';
import type { PhantomView } from '../../../models/phantom/view.ts';
import { midsagittal } from '../../../models/phantom/views/midsagittal.ts';
import { transperineal } from '../../../models/phantom/views/transperineal.ts';
import { parseOptions } from '../../../pipelines/obstetric/input.ts';
import { laborProgressReader } from '../../../pipelines/obstetric/labor-progress/read.ts';
import { laborProgress } from '../../../pipelines/obstetric/labor-progress/section.ts';
import type { Locator } from '../../../pipelines/obstetric/locator.ts';
import { nuchalReader } from '../../../pipelines/obstetric/nt/read.ts';
import { nt } from '../../../pipelines/obstetric/nt/section.ts';
import { openLocator } from '../../../pipelines/obstetric/open-locator.ts';
import type { FramePlane } from '../../../pipelines/obstetric/shared/plane.ts';
import type { ReaderInput } from '../../../pipelines/obstetric/shared/reader.ts';
import { evidenceWith, runSection } from './evidence-sample.ts';
import { onPlane } from './phantom-plane.ts';

/**
 * Tests run from pixels to the section, on phantoms that were not used in training. The plane is
 * given.
 */

const locator = await openLocator({ provider: 'cpu', threads: 1, allow: 'permissive' });
afterAll(() => locator.close());

function simulate(view: PhantomView, seed: number, gaDays: number, anatomy = {}): PhantomFrame {
  // These views choose their own dimensions, but the growth chart begins only at 14 weeks.
  const sizes = sizesAt(Math.max(gaDays, 98));
  const request = { gaDays, sizes, seed, frames: 1, anatomy, masks: false };
  return view.simulate(request)[0] as PhantomFrame;
}

async function interpret(planes: FramePlane[]) {
  const input: ReaderInput<Locator> = {
    study: { clips: planes.map((one) => one.clip), refused: [], files: planes.length, series: 1 },
    options: parseOptions({}),
    planes,
    locator,
    signal: new AbortController().signal,
  };
  const views = {
    laborProgress: await laborProgressReader.read(input),
    nuchal: await nuchalReader.read(input),
  };
  const { study } = input;
  const options = parseOptions({});
  const evidence = evidenceWith({ views, study, options });
  return { labor: runSection(laborProgress, evidence, []), nuchal: runSection(nt, evidence, []) };
}

describe('labor progress on phantoms', () => {
  it('finds the angle of progression within the tolerance that the card states', async () => {
    const errors: number[] = [];
    for (const [seed, degrees] of [
      [9103, 100],
      [9104, 120],
      [9105, 135],
    ] as const) {
      const shot = simulate(transperineal, seed, 280, { angleOfProgressionDegrees: degrees });
      const { labor } = await interpret([onPlane('transperineal', shot)]);
      const angle = labor.measurements?.find(({ id }) => id.startsWith('angle-of-progression'));
      errors.push(Math.abs((angle?.value ?? Number.NaN) - degrees));
    }
    expect(errors.toSorted((a, b) => a - b)[1]).toBeLessThan(25);
  });

  it('is not assessed without a transperineal image, and neither is NT', async () => {
    const { labor, nuchal } = await interpret([]);
    expect([labor.status, nuchal.status]).toEqual(['not_assessed', 'not_assessed']);
  });

  it('reports no millimetres without a calibration', async () => {
    const shot = simulate(transperineal, 9103, 280, { angleOfProgressionDegrees: 110 });
    const { labor } = await interpret([onPlane('transperineal', shot, { regions: [] })]);
    expect(labor.measurements?.some(({ unit }) => unit === 'mm')).toBe(false);
  });
});

describe('nuchal translucency on phantoms', () => {
  it('is measured near its true thickness', async () => {
    const errors: number[] = [];
    for (const seed of [9201, 9202, 9203]) {
      const shot = simulate(midsagittal, seed, 88);
      const { nuchal } = await interpret([onPlane('midsagittal', shot)]);
      const value = nuchal.measurements?.find(({ id }) => id.startsWith('nuchal-translucency'));
      errors.push(Math.abs((value?.value ?? Number.NaN) - (shot.truth.values?.ntMm ?? 0)));
    }
    expect(errors.toSorted((a, b) => a - b)[1]).toBeLessThan(0.8);
  });
});
