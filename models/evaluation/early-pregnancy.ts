import { axisEnds, distance } from '../../pipelines/measure/ellipse.ts';
import { locateSacs } from '../../pipelines/obstetric/early-pregnancy/locate-sac.ts';
import { readEarlyFrame } from '../../pipelines/obstetric/early-pregnancy/read.ts';
import type { PhantomFrame } from '../phantom/frame.ts';
import { createRandom } from '../phantom/random.ts';
import { CHARTED_DAYS, drawGrowth, sizesAt } from '../phantom/sizes.ts';
import { earlyPregnancy } from '../phantom/views/early-pregnancy.ts';
import { deviation, type Pair } from './agreement.ts';
import { type Case, readGray } from './cases.ts';
import { phantomClip } from './phantom-clip.ts';

/** Ages, in days, at which a sac is measured. */
const AGES = { youngest: 36, oldest: 69 } as const;

function phantomOf(seed: number, index: number): PhantomFrame {
  const random = createRandom(seed).fork(`frame ${index}`);
  const gaDays = random.integer(AGES.youngest, AGES.oldest);
  const sizes = sizesAt(CHARTED_DAYS.youngest, drawGrowth(random));
  const [phantom] = earlyPregnancy.simulate({
    gaDays,
    sizes,
    seed: random.integer(0, 0x7fffffff),
    frames: 1,
  });
  if (!phantom) throw new Error('the view drew no frame');
  return phantom;
}

/**
 * Returns the axes of the sac, yolk sac and embryo of one phantom, as the product measures them on
 * a single frame.
 */
async function lengthsOn(phantom: PhantomFrame) {
  const { clip, frame } = phantomClip(phantom);
  const { sac, contents } = await readEarlyFrame(clip, frame);
  const { mmPerPixel, values = {} } = phantom.truth;
  const scale = { x: mmPerPixel, y: mmPerPixel };
  const [a1, a2, b1, b2] = sac?.accepted ? axisEnds(sac.ellipse) : [];
  const axes = [a1 && a2 && distance(a1, a2, scale), b1 && b2 && distance(b1, b2, scale)];
  const [longer, shorter] = axes.map((axis) => axis ?? null);
  const { yolkSac = null, embryo = null } = contents ?? {};
  return {
    sacLongMm: longer ?? null,
    sacShortMm: shorter ?? null,
    yolkSacMm: yolkSac && 2 * yolkSac.radius * mmPerPixel,
    // The CRL is not measured on a section across the embryo.
    crlMm: embryo && values.transverse !== 1 ? distance(...embryo.ends, scale) : null,
  };
}

type Length = keyof Awaited<ReturnType<typeof lengthsOn>>;

/**
 * Returns the errors of the image analysis, in mm, on `count` phantoms of 36 to 69 days, and how
 * often it finds a structure that does not exist.
 */
export async function earlyOnPhantoms(seed: number, count: number, show: (line: unknown) => void) {
  const pairs: Record<Length, Pair[]> = { sacLongMm: [], sacShortMm: [], yolkSacMm: [], crlMm: [] };
  const invented = { yolkSacMm: 0, crlMm: 0 };
  for (let index = 0; index < count; index++) {
    const phantom = phantomOf(seed, index);
    const { values = {} } = phantom.truth;
    const lengths = await lengthsOn(phantom);
    for (const key of Object.keys(pairs) as Length[]) {
      const [measured, truth] = [lengths[key], values[key]];
      if (truth !== undefined) pairs[key].push({ truth, measured, accepted: measured !== null });
      else if (measured !== null && key in invented) invented[key as keyof typeof invented] += 1;
    }
    show({ index, values, lengths });
  }
  const lengths = Object.fromEntries(
    Object.entries(pairs).map(([key, own]) => [key, deviation(own)]),
  );
  return { ...lengths, invented };
}

/** Counts images of other structures on which `locateSacs`, without a classifier, accepts a sac. */
export async function sacsElsewhere(cases: readonly Case[]): Promise<number> {
  let accepted = 0;
  for (const { path } of cases) {
    if (locateSacs(await readGray(path)).some((sac) => sac.accepted)) accepted += 1;
  }
  return accepted;
}
