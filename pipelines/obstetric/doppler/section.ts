import type { ConceptKey } from '../../concepts/concepts.ts';
import { fetusKey } from '../../contract/fetus-name.ts';
import type { Measurement } from '../../result/envelope.ts';
import { flowTrace } from '../../result/flow-trace.ts';
import { formatValue } from '../../result/render/number-text.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import {
  ifPlausible,
  MACHINE_UNUSED,
  ofSeveralFetuses,
  withMachineValues,
} from '../shared/machine-values.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import { SIMULATED_ONLY } from '../shared/simulated-only.ts';
import type { DopplerEvidence, SpectrumReading } from './evidence.ts';
import {
  apart,
  type DopplerGroup,
  groupsByFetus,
  isMaternal,
  ofFetus,
  together,
  withoutNames,
} from './fetuses.ts';
import { OF_UNNAMED_FETUS } from './findings.ts';
import { lostFlowValues, worseFirst } from './flow.ts';
import { type DopplerJudgement, judgeDoppler } from './judge.ts';
import {
  DOPPLER_SECTION,
  FETAL_ARTERIES,
  isFiltered,
  isTraced,
  measureDuctus,
  measureSpectrum,
  refusalSentences,
  sidesApart,
  suppliedGaps,
  type TracedReading,
  traceProblem,
  VESSELS,
} from './measure.ts';

export { VESSELS } from './measure.ts';

const NEEDS = [
  'spectral Doppler images with time and velocity scale, labelled with their vessel',
  'gestational age',
];

const CART_KEYS = [
  'umbilical-artery-pi',
  'umbilical-artery-ri',
  'umbilical-artery-sd',
  'umbilical-artery-psv',
  'umbilical-artery-edv',
  'middle-cerebral-artery-pi',
  'middle-cerebral-artery-psv',
  'uterine-artery-pi',
] as const satisfies readonly ConceptKey[];

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
    return `${name} ${formatValue(concept.key as ConceptKey, value)}`;
  });
  return `${words.join(', ')}.`;
}

interface Given {
  readings: readonly SpectrumReading[];
  cart: readonly Measurement[];
  gaDays: number | null;
}

const WHOSE_UNKNOWN =
  'The values of the ultrasound machine were not used: whether they are of the fetus of the spectra is not known.';

const ALL_ARTERIES = [...FETAL_ARTERIES, 'uterine-artery'] as const;

/** The only fetus and its mother: the machine's values stand where ours do not. */
function judgeOne({ readings, cart, gaDays }: Given): DopplerJudgement {
  const traced = readings.filter(isTraced);
  const measured = withMachineValues(worseFirst(cart), measureAll(traced), plainId);
  const own = judgeDoppler(traced, measured, gaDays);
  const supplied = { readings, measurements: own.measurements, cart };
  return { ...own, gaps: [...own.gaps, ...suppliedGaps(supplied, ALL_ARTERIES)] };
}

/** One of several fetuses, or what names none with the mother: the machine's values tell only of lost flow. */
function judgeGroup(group: DopplerGroup, names: boolean, given: Given): DopplerJudgement {
  const { fetus } = group;
  const cart = given.cart.filter(
    (one) => !isMaternal(one.concept.key) && fetusKey(one.fetus) === fetusKey(fetus),
  );
  const traced = group.readings.filter(isTraced);
  const ours = measureAll(fetus === null ? withoutNames(traced) : traced);
  const measured = [...ours, ...lostFlowValues(cart.map(ifPlausible))];
  const whose = fetus === null ? OF_UNNAMED_FETUS : '';
  const own = judgeDoppler(traced, measured, given.gaDays, whose);
  const unnamed = given.readings.filter((one) => one.fetus === null && !isMaternal(one.vessel));
  const supplied = {
    readings: group.readings,
    measurements: own.measurements,
    cart: given.cart.filter(
      (one) => isMaternal(one.concept.key) || one.fetus === null || cart.includes(one),
    ),
    unnamed: new Set(unnamed.map(({ vessel }) => vessel)),
  };
  // What names no fetus lacks nothing where others do; elsewhere it lacks what no spectrum shows.
  const lacking = names
    ? (['uterine-artery'] as const)
    : ALL_ARTERIES.filter((one) => isMaternal(one) || !supplied.unnamed.has(one));
  const gaps = suppliedGaps(supplied, fetus === null ? lacking : FETAL_ARTERIES);
  const judged = { ...own, gaps: [...own.gaps, ...gaps] };
  return fetus === null ? judged : ofFetus(judged, fetus);
}

/** Each of several fetuses by itself; `why` they are apart. */
function judgeApart(given: Given, why: string): DopplerJudgement {
  const fetal = given.cart.filter(({ concept }) => !isMaternal(concept.key)).map(ifPlausible);
  const reported = [...Map.groupBy(fetal, ({ fetus }) => fetusKey(fetus)).values()]
    .filter((values) => lostFlowValues(values).length > 0)
    .map(([first]) => first?.fetus ?? null);
  const groups = groupsByFetus(given.readings, reported);
  const names = groups.some(({ fetus }) => fetus !== null);
  const judged = groups.map((group) => ({
    fetus: group.fetus,
    own: judgeGroup(group, names, given),
  }));
  const all = together(
    judged.flatMap(({ fetus, own }) => (fetus === null ? [] : own)),
    judged.flatMap(({ fetus, own }) => (fetus === null ? own : [])),
    why,
  );
  if (groups.some(({ fetus }) => fetus === null)) return all;
  const nothing = { readings: [], measurements: [], cart: given.cart };
  return { ...all, gaps: [...all.gaps, ...suppliedGaps(nothing, ['uterine-artery'])] };
}

/** Why the machine's values stand nowhere; none where there are none. */
function unusedSentences(cart: readonly Measurement[]): string[] {
  const fetal = cart.filter(({ concept }) => !isMaternal(concept.key));
  if (ofSeveralFetuses(fetal)) return [MACHINE_UNUSED];
  return cart.length > 0 ? [WHOSE_UNKNOWN] : [];
}

function run(evidence: DopplerEvidence): SectionOutcome {
  const readings = evidence.views.spectra ?? [];
  const traced = readings.filter(isTraced);
  const cart = evidence.machine.values(DOPPLER_SECTION, CART_KEYS);
  const given = { readings, cart, gaDays: evidence.options.dating?.ga_days ?? null };
  const why = apart(evidence, readings, cart);
  const judged = why === null ? judgeOne(given) : judgeApart(given, why);
  const refusals = [...refusalSentences(readings), ...(why === null ? [] : unusedSentences(cart))];
  if (judged.measurements.length === 0) {
    if (readings.length === 0) {
      const detail = ['No spectral Doppler image was found.', ...refusals].join(' ');
      return notAssessed('view_missing', detail, NEEDS);
    }
    const uncalibrated = readings.every(
      ({ waveform }) => waveform.status === 'refused' && waveform.reason === 'no-scale',
    );
    const detail = refusals.join(' ');
    return uncalibrated
      ? notAssessed('no_calibration', detail, NEEDS)
      : inadequate('low_confidence', detail, NEEDS);
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
        `A spectrum does not name its ${why === null ? 'vessel' : 'fetus'}: its indices are given without a category.`,
      ]
    : [];
  const gaps = [...judged.gaps, ...refusals, ...unnamed];
  const named = vessels.size > 0;
  const whole = ALL_ARTERIES.every((artery) => vessels.has(artery));
  const lacks = whole ? 'parts_missing' : 'vessel_missing';
  const code = named ? (judged.code ?? lacks) : 'vessel_unnamed';
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

/** Umbilical, middle cerebral and uterine artery and ductus venosus (obstetric 13). */
export const doppler: ObstetricSection<DopplerEvidence> = {
  id: DOPPLER_SECTION,
  title: 'Doppler',
  needs: NEEDS,
  reads: ['spectra'],
  run,
};
