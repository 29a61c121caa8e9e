import { afterAll, describe, expect, it } from 'vitest';
import type { PhantomFrame } from '../../../models/phantom/frame.ts';
import { sizesAt } from '../../../models/phantom/sizes.ts';
import type { PhantomView } from '../../../models/phantom/view.ts';
import { cervix } from '../../../models/phantom/views/cervix.ts';
import { amnioticFluid } from '../../../models/phantom/views/fluid.ts';
import { placenta, placentaEdge } from '../../../models/phantom/views/placenta.ts';
import { modelFor, readRegistry } from '../../../pipelines/inference/model-registry.ts';
import { openSession } from '../../../pipelines/inference/session.ts';
import { amnioticFluidReader } from '../../../pipelines/obstetric/amniotic-fluid/read.ts';
import { cervixReader } from '../../../pipelines/obstetric/cervix/read.ts';
import { parseOptions } from '../../../pipelines/obstetric/input.ts';
import type { Locator } from '../../../pipelines/obstetric/locator.ts';
import { placentaReader } from '../../../pipelines/obstetric/placenta/read.ts';
import type { FramePlane } from '../../../pipelines/obstetric/shared/plane.ts';
import type { ReaderInput } from '../../../pipelines/obstetric/shared/reader.ts';
import {
  drawUterineMaps,
  uterineUncertainty,
} from '../../../pipelines/obstetric/shared/uterine-maps.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { interpretReadings, measurementOf, NO_MODELS, sectionOf } from './evidence-sample.ts';
import { onPlane } from './phantom-plane.ts';

/**
 * Tests run from pixels to the section, on phantoms that were not used in training. The plane is
 * given.
 */

const model = modelFor(await readRegistry(), 'uterine-structures', 'permissive');
if (!model) throw new Error('no model of uterine structures is registered');
const session = await openSession(model, { provider: 'cpu', threads: 1 });
afterAll(() => session.close());

const GA_DAYS = 150;

function simulate(view: PhantomView, seed: number, anatomy: Record<string, number>): PhantomFrame {
  const screen = { columns: 640, rows: 480 };
  const sizes = sizesAt(GA_DAYS);
  const request = { gaDays: GA_DAYS, sizes, seed, frames: 1, screen, anatomy, masks: false };
  return view.simulate(request)[0] as PhantomFrame;
}

async function interpret(planes: FramePlane[]): Promise<Result> {
  const options = { dating: { ga_days: GA_DAYS } };
  const input: ReaderInput<Locator> = {
    study: { clips: planes.map((one) => one.clip), refused: [], files: planes.length, series: 1 },
    options: parseOptions(options),
    planes,
    locator: { ...NO_MODELS, uterus: (images) => drawUterineMaps(session, images) },
    signal: new AbortController().signal,
  };
  const views = {
    amnioticFluid: await amnioticFluidReader.read(input),
    placenta: await placentaReader.read(input),
    cervix: await cervixReader.read(input),
  };
  return interpretReadings({ readings: [], options, evidence: { views } });
}

/** Half widths in mm of the 95 % intervals that models/evaluate.ts measured. */
const { pocket, cervicalLength } = await uterineUncertainty(model);

describe('on unseen phantoms', () => {
  it.each([
    { seed: 7011, lengthMm: 36 },
    { seed: 7002, lengthMm: 21 },
  ])('a cervix of $lengthMm mm is measured within its interval', async ({ seed, lengthMm }) => {
    const shot = simulate(cervix, seed, { lengthMm, bowMm: 0, funnel: 0 });
    const result = await interpret([onPlane('cervix', shot)]);
    const error = measurementOf(result, 'cervical-length').value - lengthMm;
    expect(Math.abs(error)).toBeLessThanOrEqual(cervicalLength ?? 0);
  });

  it('the deepest pocket is measured within its interval', async () => {
    const shot = simulate(amnioticFluid, 7003, { amount: 1, limbs: 2, cords: 0, trunk: 0 });
    const result = await interpret([onPlane('amniotic-fluid', shot)]);
    const error =
      measurementOf(result, 'deepest-vertical-pocket').value - (shot.truth.values?.pocketMm ?? 0);
    expect(Math.abs(error)).toBeLessThanOrEqual(pocket ?? 0);
  });

  it('the distance of the placental edge is withheld, because its side of the os is uncertain', async () => {
    const shot = simulate(placentaEdge, 7004, { edgeMm: 12 });
    const result = await interpret([onPlane('cervix', shot)]);
    expect(result.measurements.map(({ id }) => id)).not.toContain('placenta-to-os');
    expect(sectionOf(result, 'placenta').status).toBe('not_assessed');
  });

  it.each(['placenta', 'amniotic-fluid'] as const)(
    'the wall of the placenta is reported on a picture called %s',
    async (plane) => {
      const shot = simulate(placenta, 7006, { wall: 1, lacunae: 0 });
      const result = await interpret([onPlane(plane, shot)]);
      expect(sectionOf(result, 'placenta').data.location).toEqual(['posterior']);
    },
  );

  it('nothing is reported in millimetres without a calibration', async () => {
    const shots = [
      onPlane('cervix', simulate(cervix, 7001, { lengthMm: 36, bowMm: 0, funnel: 0 }), {
        regions: [],
      }),
      onPlane('amniotic-fluid', simulate(amnioticFluid, 7003, { amount: 1 }), { regions: [] }),
    ];
    const result = await interpret(shots);
    expect(result.measurements).toEqual([]);
    expect(sectionOf(result, 'cervix').reason?.code).toBe('no_calibration');
    expect(sectionOf(result, 'amniotic-fluid').reason?.code).toBe('no_calibration');
  });
});
