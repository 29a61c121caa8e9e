import type { Measurement } from '../../result/envelope.ts';
import { fetusKey, isConfirmed } from '../../result/measured.ts';
import { say } from '../../result/render/obstetric/nt.ts';
import type { SeveralFetusesSource } from '../../result/render/obstetric/shared.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  ifPlausible,
  isChosen,
  judgedValue,
  machineValues,
  withDifference,
} from '../shared/measurement.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import type { MidsagittalReading, NuchalEvidence } from './evidence.ts';
import { HIGH_NT, NT_WINDOW, nuchalTranslucencyMoM } from './guideline.ts';
import {
  differenceFinding,
  HIGH_GUIDANCE,
  highOfSeveral,
  isHigh,
  limitOf,
  nuchalClassification,
  nuchalDifference,
  nuchalDoubt,
  nuchalFindings,
  withReference,
} from './judge.ts';
import {
  adequacyClass,
  measureNuchal,
  measureNuchalApart,
  midsagittalBoxes,
  NUCHAL_SECTION,
  nasalBone,
  openCriteria,
  planeAdequacy,
} from './measure.ts';

const VIEW = 'a calibrated mid-sagittal view at 11 to 14 weeks';
/**
 * Window in gestational days, 11+0 to 14+1: the range of the FMF protocol, and of the ages that
 * Robinson's equation yields for a CRL of 45 to 84 mm.
 */
const WINDOW_DAYS = { from: 77, to: 99 } as const;

const acceptedOf = (values: readonly Measurement[]) =>
  values.filter(({ quality }) => quality === 'accepted');

const isOutsideCrlWindow = ({ value }: Measurement): boolean =>
  value < NT_WINDOW.from || value > NT_WINDOW.to;

function windowMissed(
  { options }: NuchalEvidence,
  crl: Measurement | null,
): 'crl' | 'weeks' | null {
  if (crl) return isOutsideCrlWindow(crl) ? 'crl' : null;
  const days = options.dating?.ga_days;
  if (days === undefined) return null;
  return days >= WINDOW_DAYS.from && days <= WINDOW_DAYS.to ? null : 'weeks';
}

const valueOutside = (
  value: Measurement,
  window: 'crl' | 'weeks',
  fetus: string | null = null,
): Statement => say.gap('nt.value-outside-window', { window }, [value], fetus);

/**
 * Returns the outcome outside the window, where the method does not apply. The machine values are
 * shown, but no image is measured.
 */
function outsideWindow(
  machine: readonly Measurement[],
  window: 'crl' | 'weeks',
  shown: readonly Statement[],
): SectionOutcome {
  const gaps = shown.length > 0 ? shown : [say.gap('nt.outside-window', { window })];
  return {
    status: shown.length > 0 ? 'partial' : 'not_assessed',
    reason: { code: 'outside_window', gaps, needs: [VIEW] },
    statements: gaps,
    measurements: [...machine],
  };
}

function whyNone(
  readings: readonly MidsagittalReading[],
  measured: readonly Measurement[],
): SectionOutcome {
  const [named] = measured;
  if (named) return inadequate('plane_inadequate', say.gap('nt.not-judged', {}, [named]), [VIEW]);
  if (readings.some((reading) => reading.lines !== null)) {
    return notAssessed('no_calibration', say.gap('nt.no-scale', {}), [VIEW]);
  }
  return inadequate('low_confidence', say.gap('nt.lines-not-seen', {}), [VIEW]);
}

function gapsOf(best: MidsagittalReading | null, crl: Measurement | null): Statement[] {
  return [
    ...(crl ? [] : [say.gap('nt.no-crl', { mm: HIGH_NT })]),
    best
      ? say.gap('nt.plane-open', { criteria: openCriteria(best) })
      : say.gap('nt.plane-not-assessed', {}),
  ];
}

function withoutFrames(
  readings: readonly MidsagittalReading[] | null | undefined,
): SectionOutcome | null {
  if (readings === null) {
    return notAssessed('no_model', say.gap('nt.no-model', {}), [
      'a permitted fetal-midsagittal model',
    ]);
  }
  if (readings?.length) return null;
  return notAssessed('view_missing', say.gap('nt.no-view', {}), [VIEW]);
}

/**
 * Returns the outcome for several fetuses. Each thickness is listed separately and without a
 * reference, because it is unknown which fetus an image or a CRL belongs to. `named` contains the
 * thicknesses that the machine's reports assign to a fetus, and `lengths` the CRLs. A thickness is
 * not judged if the CRL of the same fetus is outside the window.
 */
function apart(
  readings: readonly MidsagittalReading[],
  named: readonly Measurement[],
  lengths: readonly Measurement[],
  source: SeveralFetusesSource,
): SectionOutcome {
  const measurements = [...named, ...measureNuchalApart(readings)];
  const accepted = acceptedOf(measurements);
  if (accepted.length === 0) return { ...whyNone(readings, measurements), measurements };
  const outside = new Set(lengths.filter(isOutsideCrlWindow).map(({ fetus }) => fetusKey(fetus)));
  const isOutside = ({ fetus }: Measurement) => fetus !== null && outside.has(fetusKey(fetus));
  const { findings, doubts } = highOfSeveral(accepted.filter((one) => !isOutside(one)));
  const gaps = [
    say.gap('nt.apart', { source }, accepted),
    ...accepted.filter(isOutside).map((one) => valueOutside(one, 'crl', one.fetus)),
    ...doubts,
  ];
  return {
    status: 'partial',
    reason: { code: 'several_fetuses', gaps, needs: ['a study of each fetus by itself'] },
    statements: gaps,
    measurements,
    findings,
    guidance: findings.length > 0 ? [HIGH_GUIDANCE] : [],
  };
}

function assess(
  readings: readonly MidsagittalReading[],
  machine: readonly Measurement[],
  crl: Measurement | null,
): SectionOutcome {
  const ours = measureNuchal(readings);
  const all = [...withDifference(machine, ours), ...ours];
  const nt = judgedValue(all, 'nuchal-translucency');
  const own = ours.find(isChosen) ?? null;
  const best =
    readings.find(
      ({ clip, frame }) =>
        !own || (clip.file === own.source.file && frame.index + 1 === own.source.frame),
    ) ?? null;
  const plane = best ? [adequacyClass(best), nasalBone(readings)] : [];
  const data = { plane_adequacy: best ? planeAdequacy(best) : [], crl_mm: crl?.value ?? null };
  if (!nt) return { ...whyNone(readings, all), data, measurements: all, classifications: plane };
  const difference = nuchalDifference(all, crl);
  // If our value and the machine's are in different categories, the thickness is classified only if
  // a person confirmed it and so decided between the two.
  const judged = !difference?.ofCategory || isConfirmed(nt);
  const classifications = [...(judged ? nuchalClassification(nt, crl) : []), ...plane];
  const gaps = [
    ...(difference ? [difference.statement] : []),
    ...gapsOf(own === nt ? best : null, crl),
  ];
  const doubt = judged ? nuchalDoubt(nt, crl) : [];
  return {
    status: 'partial',
    reason: {
      code: difference ? 'values_differ' : crl ? 'plane_not_all_assessed' : 'crl_missing',
      gaps,
      needs: crl ? [VIEW] : ['CRL of the same visit'],
    },
    statements: [
      say.value('nt.value', { limit: limitOf(crl) }, [nt]),
      ...classifications.map(({ name, value }) => say.conclusion('nt.category', { name, value })),
      ...doubt,
      ...gaps,
    ],
    data: { ...data, mom: judged && crl ? nuchalTranslucencyMoM(crl.value, nt.value) : null },
    measurements: all.map((one) => (judged && one === nt ? withReference(nt, crl) : one)),
    findings: [...(judged ? nuchalFindings(nt, crl) : []), ...differenceFinding(difference)],
    classifications,
    guidance: judged && isHigh(nt) ? [HIGH_GUIDANCE] : [],
  };
}

const namedValues = ({ machine }: NuchalEvidence): Measurement[] =>
  machine
    .values(NUCHAL_SECTION, ['nuchal-translucency'])
    .filter(({ fetus }) => fetus !== null)
    .map(ifPlausible);

function run(evidence: NuchalEvidence, earlier: readonly Measurement[]): SectionOutcome {
  const several = evidence.severalFetuses;
  const machine = machineValues(evidence, NUCHAL_SECTION, ['nuchal-translucency']);
  const named = several ? namedValues(evidence) : [];
  const readings = evidence.views.nuchal?.frames;
  // The positions of the structures are reported even if no thickness was measured.
  const structures = midsagittalBoxes(readings);
  const completed = (outcome: SectionOutcome, { unused } = machine): SectionOutcome => ({
    ...outcome,
    ...(structures.length > 0 && { data: { ...outcome.data, structures } }),
    ...(unused && { statements: [...(outcome.statements ?? []), unused] }),
  });
  const none = withoutFrames(readings);
  if (none && machine.measurements.length + named.length === 0) return completed(none);
  if (several) {
    // The CRL of one fetus does not show whether another is within the window.
    const window = windowMissed(evidence, null);
    const lengths = earlier.filter(({ concept, fetus }) => concept.key === 'crl' && fetus !== null);
    const unused = named.length > 0 ? null : machine.unused;
    const outcome = window
      ? outsideWindow(
          named,
          window,
          acceptedOf(named).map((one) => valueOutside(one, window, one.fetus)),
        )
      : apart(readings ?? [], named, lengths, several);
    return completed(outcome, { ...machine, unused });
  }
  const crl = judgedValue(earlier, 'crl');
  const window = windowMissed(evidence, crl);
  if (!window) return completed(assess(readings ?? [], machine.measurements, crl));
  const value = judgedValue(machine.measurements, 'nuchal-translucency');
  const shown = value ? [valueOutside(value, window)] : [];
  return completed(outsideWindow(machine.measurements, window, shown));
}

/** The section on nuchal translucency, nasal bone and plane adequacy (obstetric 6). */
export const nt: ObstetricSection<NuchalEvidence> = {
  id: NUCHAL_SECTION,
  title: 'Nuchal translucency',
  needs: [VIEW, 'CRL'],
  reads: ['nuchal'],
  run,
};
