import { afterAll, describe, expect, it } from 'vitest';
import type { PhantomFrame } from '../../../models/phantom/frame.ts';
import { sizesAt } from '../../../models/phantom/sizes.ts';
import type { PhantomView } from '../../../models/phantom/view.ts';
import { cerebellum, lateralVentricle } from '../../../models/phantom/views/brain-structures.ts';
import { fourChamber } from '../../../models/phantom/views/four-chamber.ts';
import { median } from '../../../pipelines/measure/statistics.ts';
import { fetalBrainReader } from '../../../pipelines/obstetric/anomaly-screen/read.ts';
import { anomalyScreen } from '../../../pipelines/obstetric/anomaly-screen/section.ts';
import { fetalHeartReader } from '../../../pipelines/obstetric/fetal-heart/read.ts';
import { fetalHeart } from '../../../pipelines/obstetric/fetal-heart/section.ts';
import { parseOptions } from '../../../pipelines/obstetric/input.ts';
import type { Locator } from '../../../pipelines/obstetric/locator.ts';
import { openLocator } from '../../../pipelines/obstetric/open-locator.ts';
import type { FramePlane, Plane } from '../../../pipelines/obstetric/shared/plane.ts';
import type { ReaderInput } from '../../../pipelines/obstetric/shared/reader.ts';
import { evidenceWith, runSection } from './evidence-sample.ts';
import { onPlane } from './phantom-plane.ts';

/**
 * Tests run from pixels to the section, on phantoms that were not used in training. The plane is
 * given.
 */

const locator = await openLocator({ provider: 'cpu', threads: 1, allow: 'permissive' });
afterAll(() => locator.close());

const GA_DAYS = 154;

function simulate(view: PhantomView, seed: number, anatomy = {}): PhantomFrame {
  const sizes = sizesAt(GA_DAYS);
  const request = { gaDays: GA_DAYS, sizes, seed, frames: 1, anatomy, masks: false };
  return view.simulate(request)[0] as PhantomFrame;
}

async function interpret(planes: FramePlane[], gaDays: number | null = GA_DAYS) {
  const clips = planes.map((one) => one.clip);
  const study = { clips, refused: [], files: clips.length, series: 1 };
  const options = parseOptions(gaDays === null ? {} : { dating: { ga_days: gaDays } });
  const signal = new AbortController().signal;
  const input: ReaderInput<Locator> = { study, options, planes, locator, signal };
  const views = {
    fetalHeart: await fetalHeartReader.read(input),
    fetalBrain: await fetalBrainReader.read(input),
  };
  const { uncertainty } = locator;
  const evidence = evidenceWith({ study, views, options, planes, uncertainty });
  return {
    heart: runSection(fetalHeart, evidence, []),
    screen: runSection(anomalyScreen, evidence, []),
  };
}

type Outcome = Awaited<ReturnType<typeof interpret>>['heart'];

const measured = (outcome: Outcome, key: string) =>
  outcome.measurements?.find(({ concept }) => concept.key === key)?.value ?? Number.NaN;

/**
 * Returns the median error over several phantoms. It tolerates one bad picture but reveals a
 * failing reader.
 */
async function middleError(
  view: PhantomView,
  plane: Plane,
  key: string,
  anatomies: readonly Record<string, number>[],
  name: string,
): Promise<number> {
  const errors: number[] = [];
  for (const [i, anatomy] of anatomies.entries()) {
    const shot = simulate(view, 9300 + i, anatomy);
    const { heart, screen } = await interpret([onPlane(plane, shot)]);
    const truth = anatomy[name] ?? Number.NaN;
    errors.push(Math.abs(measured(plane === 'four-chamber' ? heart : screen, key) - truth));
  }
  return median(errors);
}

describe('the heart on four-chamber phantoms', () => {
  it('has its area ratio within the tolerance that the card states', async () => {
    const ratios = [0.27, 0.3, 0.33].map((areaRatio) => ({ areaRatio }));
    expect(
      await middleError(
        fourChamber,
        'four-chamber',
        'cardiothoracic-area-ratio',
        ratios,
        'areaRatio',
      ),
    ).toBeLessThan(0.06);
  });

  it('has no ratio if the view is missing', async () => {
    const { heart } = await interpret([]);
    expect(heart.status).toBe('not_assessed');
  });

  it('has ratios even without calibration and age', async () => {
    const shot = simulate(fourChamber, 9310, { areaRatio: 0.3 });
    const { heart } = await interpret([onPlane('four-chamber', shot, { regions: [] })], null);
    expect(measured(heart, 'cardiothoracic-area-ratio')).toBeGreaterThan(0.2);
  });
});

describe('the brain on axial phantoms', () => {
  it.each([
    ['transcerebellar-diameter', cerebellum, 'transcerebellar', 'tcdMm', [20, 22, 24], 1],
    ['cisterna-magna', cerebellum, 'transcerebellar', 'cisternaMm', [3, 5, 7], 1.5],
    ['atrial-width', lateralVentricle, 'transventricular', 'atrialMm', [6, 8, 11], 2],
  ] as const)(
    '%s is within the tolerance that the card states',
    async (key, view, plane, name, sizes, mm) => {
      const anatomies = sizes.map((size) => ({ [name]: size }));
      expect(await middleError(view, plane, key, anatomies, name)).toBeLessThan(mm);
    },
  );

  it('has no millimetres without calibration', async () => {
    const shot = simulate(cerebellum, 9320);
    const { screen } = await interpret([onPlane('transcerebellar', shot, { regions: [] })]);
    expect(screen.measurements).toEqual([]);
  });

  it('is not judged without a gestational age', async () => {
    const shot = simulate(cerebellum, 9320);
    const { screen } = await interpret([onPlane('transcerebellar', shot)], null);
    expect(screen.status).toBe('not_assessed');
  });
});
