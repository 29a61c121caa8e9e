import type { BeatVelocities } from '../../pipelines/obstetric/doppler/evidence.ts';
import { traceDoppler } from '../../pipelines/obstetric/doppler/trace.ts';
import { sizesAt } from '../phantom/sizes.ts';
import {
  leftUterineArtery,
  middleCerebralArtery,
  umbilicalArtery,
} from '../phantom/views/spectrum.ts';
import { sweepOfFrame } from './displays.ts';

const VIEWS = {
  'umbilical-artery': umbilicalArtery,
  'middle-cerebral-artery': middleCerebralArtery,
  'uterine-artery': leftUterineArtery,
} as const;

type Artery = keyof typeof VIEWS;
export const ARTERIES: readonly Artery[] = [
  'umbilical-artery',
  'middle-cerebral-artery',
  'uterine-artery',
];

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const QUANTITIES = ['psv', 'edv', 'tamx', 'pi', 'ri'] as const;
type Values = Record<(typeof QUANTITIES)[number], number>;

/**
 * One simulated spectrum, its true values, and the mean values over the traced beats. These are
 * null if the spectrum was refused.
 */
export interface ArteryCase {
  artery: Artery;
  seed: number;
  truth: Values;
  found: Values | null;
  refusal: string | null;
}

function valuesOf(beats: readonly BeatVelocities[]): Values {
  const of = (pick: (beat: BeatVelocities) => number) => mean(beats.map(pick));
  return {
    psv: of(({ peak }) => peak),
    edv: of(({ endDiastolic }) => endDiastolic),
    tamx: of(({ average }) => average),
    pi: of(({ peak, endDiastolic, average }) => (peak - endDiastolic) / average),
    ri: of(({ peak, endDiastolic }) => (peak - endDiastolic) / peak),
  };
}

/** Simulates one spectrum with forward flow throughout the beat, and traces it. */
export function arteryCase(artery: Artery, seed: number): ArteryCase {
  const gaDays = 210;
  const [frame] = VIEWS[artery].simulate({ gaDays, sizes: sizesAt(gaDays), seed, frames: 1 });
  if (!frame) throw new Error(`The view ${artery} has no frame.`);
  const at = (name: string) => frame.truth.values?.[name] ?? Number.NaN;
  const image = { width: frame.columns, height: frame.rows, data: frame.gray };
  const waveform = traceDoppler(image, sweepOfFrame(frame, 'pw'));
  return {
    artery,
    seed,
    truth: {
      psv: at('psvCmPerSecond'),
      edv: at('edvCmPerSecond'),
      tamx: at('tamxCmPerSecond'),
      pi: at('pulsatilityIndex'),
      ri: at('resistanceIndex'),
    },
    found: waveform.status === 'traced' ? valuesOf(waveform.beats) : null,
    refusal: waveform.status === 'refused' ? waveform.reason : null,
  };
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** Returns the table of biases. With `each`, one line per spectrum precedes it. */
export function arteryTable(cases: readonly ArteryCase[], each: boolean): string {
  const lines = each
    ? cases.map(({ artery, seed, truth, found, refusal }) =>
        [
          artery,
          seed,
          refusal ??
            QUANTITIES.map((one) =>
              found
                ? `${one} ${truth[one].toFixed(2)} ${percent(found[one] / truth[one] - 1)}`
                : one,
            ).join(', '),
        ].join(' '),
      )
    : [];
  const rows = ARTERIES.map((artery) => {
    const own = cases.filter((one) => one.artery === artery);
    const traced = own.flatMap(({ truth, found }) => (found ? [{ truth, found }] : []));
    const cells = QUANTITIES.map((one) => {
      const errors = traced.map(({ truth, found }) => found[one] / truth[one] - 1);
      return `${percent(mean(errors))}, ${percent(mean(errors.map(Math.abs)))}`;
    });
    return `| ${[artery, `${traced.length} of ${own.length}`, ...cells].join(' | ')} |`;
  });
  return [
    ...lines,
    `| artery | traced | ${QUANTITIES.map((one) => `${one} bias, error`).join(' | ')} |`,
    `|---|---|${QUANTITIES.map(() => '---').join('|')}|`,
    ...rows,
  ].join('\n');
}
