import type { DopplerRefusal } from '../../measure/doppler.ts';
import { cartMeasurements } from '../../result/cart-measurements.ts';
import type { ConceptKey } from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { flowTrace } from '../../result/flow-trace.ts';
import { groupsByFetus, ofFetus, together } from '../doppler-fetuses.ts';
import { type DopplerJudgement, judgeDoppler } from '../doppler-judgement.ts';
import {
  DOPPLER_SECTION,
  isFiltered,
  isTraced,
  measureDuctus,
  measureSpectrum,
  sidesApart,
  type TracedReading,
  traceProblem,
} from '../doppler-measurements.ts';
import { MACHINE_UNUSED, ofSeveralFetuses, withMachineValues } from '../machine-values.ts';
import { format } from '../measurement.ts';
import type { DopplerVessel, SpectrumReading } from '../read/spectra.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';
import { SIMULATED_ONLY } from '../simulated-only.ts';

const NEEDS = [
  'spectral Doppler images with time and velocity scale, labelled with their vessel',
  'gestational age',
];

export const VESSELS: Readonly<Record<DopplerVessel, string>> = {
  'umbilical-artery': 'umbilical artery',
  'middle-cerebral-artery': 'MCA',
  'uterine-artery': 'uterine artery',
  'ductus-venosus': 'ductus venosus',
};

const REFUSALS: Readonly<Record<DopplerRefusal, string>> = {
  'no-scale': 'no time and velocity scale with its baseline was available',
  'no-flow': 'no flow stands out from the noise',
  aliased: 'the flow is aliased (it wraps around the end of the scale)',
  'cut-off': 'the flow is cut off by the end of the scale',
  'no-beats': 'no regular beats were seen',
  'beats-differ': 'its beats differ too much',
};

const CART_KEYS = [
  'umbilical-artery-pi',
  'umbilical-artery-ri',
  'umbilical-artery-sd',
  'middle-cerebral-artery-pi',
  'middle-cerebral-artery-psv',
  'uterine-artery-pi',
] as const satisfies readonly ConceptKey[];

function sentenceOf(reading: SpectrumReading): string[] {
  if (reading.waveform.status !== 'refused') return [];
  const vessel = reading.vessel ? `The ${VESSELS[reading.vessel]} spectrum` : 'A spectrum';
  return [`${vessel} was not measured: ${REFUSALS[reading.waveform.reason]}.`];
}

/** The better trace first: accepted before not, what the wall filter cuts last of those, by beats. */
function byQuality(one: TracedReading, other: TracedReading): number {
  const worth = (reading: TracedReading) =>
    (traceProblem(reading.waveform) ? 0 : 100) +
    (isFiltered(reading) ? 0 : 10) +
    Math.min(5, reading.waveform.beats.length) +
    reading.waveform.confidence;
  return worth(other) - worth(one);
}

/** Every trace measured; of one vessel and side the best takes the plain ids. */
function measureAll(readings: readonly TracedReading[]): Measurement[] {
  const groups = Map.groupBy(
    readings,
    ({ vessel, laterality }) => `${vessel} ${sidesApart(vessel) ? laterality : ''}`,
  );
  return [...groups.values()].flatMap((group) =>
    group
      .toSorted(byQuality)
      .flatMap((reading, rank) =>
        reading.vessel === 'ductus-venosus'
          ? measureDuctus(reading, rank)
          : measureSpectrum(reading, rank),
      ),
  );
}

/** The id under which a value of the machine would stand for its quantity. */
const plainId = ({ concept, laterality }: Measurement) =>
  [concept.key, sidesApart(concept.key) ? laterality : null].filter(Boolean).join('-');

function missing(present: ReadonlySet<string>): string[] {
  const has = (key: string) => present.has(key);
  const ua = has('umbilical-artery');
  const mca = has('middle-cerebral-artery');
  return [
    ...(ua
      ? []
      : [`Umbilical artery Doppler was not supplied${mca ? '; CPR was not assessed' : ''}.`]),
    ...(mca ? [] : [`MCA Doppler was not supplied${ua ? '; CPR was not assessed' : ''}.`]),
    ...(has('uterine-artery') ? [] : ['Uterine artery Doppler was not supplied.']),
  ];
}

function summaryOf(measurements: readonly Measurement[]): string {
  const shown = measurements.filter(
    ({ quality, concept, id }) =>
      quality === 'accepted' &&
      id.startsWith(concept.key) &&
      !/-(rate|edv|ri|sd)(-|$)/.test(id) &&
      !/-\d+$/.test(id),
  );
  if (shown.length === 0) return '';
  const words = shown.map(({ label, concept, value, laterality, fetus }) => {
    const whose = [laterality, fetus && `fetus ${fetus}`].filter(Boolean).join(', ');
    const name = whose ? `${label} (${whose})` : label;
    return `${name} ${format(concept.key as ConceptKey, value)}`;
  });
  return `${words.join(', ')}.`;
}

function notAssessed(code: string, detail: string): SectionOutcome {
  return {
    status: 'not_assessed',
    reason: { code, detail, needs: NEEDS },
    summary: detail,
  };
}

/** Each fetus by itself where there are several; the machine's values only where there is one. */
function judgeAll(
  traced: readonly TracedReading[],
  cart: readonly Measurement[],
  several: boolean,
  gaDays: number | null,
): DopplerJudgement {
  const groups = groupsByFetus(traced, several);
  const judged = groups.map(({ fetus, readings }) => {
    const measured = withMachineValues(several ? [] : cart, measureAll(readings), plainId);
    const own = judgeDoppler(readings, measured, gaDays);
    return { fetus, own: fetus === null ? own : ofFetus(own, fetus) };
  });
  const [only] = judged;
  if (only && judged.length === 1 && only.fetus === null && !several) return only.own;
  return together(
    judged.flatMap(({ fetus, own }) => (fetus === null ? [] : own)),
    judged.flatMap(({ fetus, own }) => (fetus === null ? own : [])),
  );
}

function run(evidence: ObstetricEvidence): SectionOutcome {
  const readings = evidence.views.spectra ?? [];
  const traced = readings.filter(isTraced);
  const cart = cartMeasurements(evidence.study.cart ?? [], DOPPLER_SECTION, CART_KEYS);
  const several = ofSeveralFetuses(cart);
  const judged = judgeAll(traced, cart, several, evidence.options.dating?.ga_days ?? null);
  const refusals = [...readings.flatMap(sentenceOf), ...(several ? [MACHINE_UNUSED] : [])];
  if (judged.measurements.length === 0) {
    if (readings.length === 0) {
      const detail = ['No spectral Doppler image was found.', ...refusals].join(' ');
      return notAssessed('view_missing', detail);
    }
    const uncalibrated = readings.every(
      ({ waveform }) => waveform.status === 'refused' && waveform.reason === 'no-scale',
    );
    const code = uncalibrated ? 'no_calibration' : 'low_confidence';
    return {
      ...notAssessed(code, refusals.join(' ')),
      status: uncalibrated ? 'not_assessed' : 'inadequate',
    };
  }
  const vessels = new Set(
    judged.measurements
      .filter(({ quality }) => quality === 'accepted')
      .flatMap(({ concept }) =>
        Object.keys(VESSELS).filter((vessel) => concept.key.startsWith(vessel)),
      ),
  );
  const unnamed = judged.measurements.some(({ id }) => id.startsWith('unnamed-vessel'))
    ? [
        `A spectrum does not name its ${several ? 'fetus' : 'vessel'}: its indices are given without a category.`,
      ]
    : [];
  const gaps = [...judged.gaps, ...refusals, ...unnamed, ...missing(vessels)];
  const named = vessels.size > 0;
  const code = !named ? 'vessel_unnamed' : (judged.code ?? 'vessel_missing');
  return {
    status: gaps.length === 0 ? 'complete' : 'partial',
    reason: gaps.length === 0 ? null : { code, detail: gaps.join(' '), needs: NEEDS },
    summary: [summaryOf(judged.measurements), ...judged.sentences, ...gaps]
      .filter(Boolean)
      .join(' '),
    data: {
      category: judged.category,
      uterine_notching: 'not_assessed',
      umbilical_site: 'not_known',
      limitation: SIMULATED_ONLY,
      spectra: traced.map(({ file, frame, vessel, laterality, fetus, waveform }) => ({
        file,
        vessel,
        laterality,
        fetus,
        beats: waveform.beats.length,
        beats_seen: waveform.beatsSeen,
        beats_per_minute: waveform.beatsPerMinute,
        other_vessel_on_the_other_side: waveform.otherVessel,
        trace: flowTrace(frame, waveform.trace),
      })),
    },
    measurements: judged.measurements,
    findings: judged.findings,
    classifications: judged.classifications,
    guidance: judged.guidance,
  };
}

/** Umbilical, middle cerebral and uterine artery and ductus venosus (obstetric reference 13). */
export const doppler: ObstetricSection = {
  id: DOPPLER_SECTION,
  title: 'Doppler',
  needs: NEEDS,
  reads: ['spectra'],
  run,
};
