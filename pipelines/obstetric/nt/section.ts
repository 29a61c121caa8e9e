import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import { judgedValue, machineValues, withDifference } from '../shared/machine-values.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import type { MidsagittalReading, NuchalEvidence } from './evidence.ts';
import { HIGH_NT, NT_WINDOW, nuchalTranslucencyMoM } from './guideline.ts';
import {
  differenceFinding,
  HIGH_GUIDANCE,
  highOfSeveral,
  nuchalClassification,
  nuchalDifference,
  nuchalDoubt,
  nuchalFindings,
  nuchalText,
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
/** Gestational days of the window, 11+0 to 14+1: protocol and Robinson ages of CRL 45 to 84 mm. */
const WINDOW_DAYS = { from: 77, to: 99 } as const;

/** The window in which NT is interpreted, where the scan lies outside of it; null where it does not. */
function windowMissed({ options }: NuchalEvidence, crl: Measurement | null): string | null {
  if (crl) {
    const within = crl.value >= NT_WINDOW.from && crl.value <= NT_WINDOW.to;
    return within ? null : `CRL ${NT_WINDOW.from} to ${NT_WINDOW.to} mm`;
  }
  const days = options.dating?.ga_days;
  if (days === undefined) return null;
  const within = days >= WINDOW_DAYS.from && days <= WINDOW_DAYS.to;
  return within ? null : '11 to 14 weeks';
}

/** The machine's value is shown; an image is not measured at an age for which the method is not. */
function outsideWindow(machine: readonly Measurement[], window: string): SectionOutcome {
  const why = `outside the window in which NT is interpreted (${window}).`;
  const value = judgedValue(machine, 'nuchal-translucency');
  const detail = value
    ? `Nuchal translucency ${nuchalText(value, null)}${OF_MACHINE} is not categorised: ${why}`
    : `NT was not assessed: ${why}`;
  const outcome = notAssessed('outside_window', detail, [VIEW]);
  return { ...outcome, ...(value && { status: 'partial' }), measurements: [...machine] };
}

const OF_MACHINE = ' (ultrasound machine)';

/** Why there is no thickness that stands. */
function whyNone(
  readings: readonly MidsagittalReading[],
  measured: readonly Measurement[],
): SectionOutcome {
  const [named] = measured;
  if (named) {
    const detail = `Nuchal translucency ${nuchalText(named, null)} is not judged: ${named.note ?? ''}. Measure again on an adequate plane.`;
    return inadequate('plane_inadequate', detail, [VIEW]);
  }
  if (readings.some((reading) => reading.lines !== null)) {
    const detail = 'NT was not measured: no physical scale was available.';
    return notAssessed('no_calibration', detail, [VIEW]);
  }
  const detail = 'NT was not measured: the nuchal lines were not seen well enough.';
  return inadequate('low_confidence', detail, [VIEW]);
}

function gapsOf(best: MidsagittalReading | null, crl: Measurement | null): string[] {
  return [
    ...(crl ? [] : [`CRL was not measured: NT is given without a category below ${HIGH_NT} mm.`]),
    best
      ? `Not assessed on the plane: ${openCriteria(best).join(', ')}; no Herman score is given.`
      : 'The plane of the value was not assessed.',
  ];
}

/** Why no frame is looked at; null where there are some, or a value of the machine. */
function withoutFrames(
  readings: readonly MidsagittalReading[] | null | undefined,
): SectionOutcome | null {
  if (readings === null) {
    const detail = 'No model for the mid-sagittal view is permitted by the configuration.';
    return notAssessed('no_model', detail, ['a permitted fetal-midsagittal model']);
  }
  if (readings?.length) return null;
  const detail = 'NT was not assessed: no first-trimester mid-sagittal view was found.';
  return notAssessed('view_missing', detail, [VIEW]);
}

/** Of several fetuses no two images are put together, and none has a CRL of its own. */
function apart(readings: readonly MidsagittalReading[], why: string): SectionOutcome {
  const measurements = measureNuchalApart(readings);
  const accepted = measurements.filter(({ quality }) => quality === 'accepted');
  if (accepted.length === 0) return { ...whyNone(readings, measurements), measurements };
  const values = accepted.map((one) => nuchalText(one, null)).join(', ');
  const findings = highOfSeveral(accepted);
  const detail = `Nuchal translucency ${values}: each stands by itself, without a category: ${why}.`;
  return {
    status: 'partial',
    reason: { code: 'several_fetuses', detail, needs: ['a study of each fetus by itself'] },
    summary: detail,
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
  const own = all.find(({ id }) => id === 'nuchal-translucency') ?? null;
  const best =
    readings.find(
      ({ clip, frame }) =>
        !own || (clip.file === own.source.file && frame.index + 1 === own.source.frame),
    ) ?? null;
  const plane = best ? [adequacyClass(best), nasalBone(readings)] : [];
  const data = { plane_adequacy: best ? planeAdequacy(best) : [], crl_mm: crl?.value ?? null };
  if (!nt) return { ...whyNone(readings, all), data, measurements: all, classifications: plane };
  const difference = nuchalDifference(all, crl);
  const judged = !difference?.ofCategory;
  const classifications = [...(judged ? nuchalClassification(nt, crl) : []), ...plane];
  const gaps = [...(difference ? [difference.text] : []), ...gapsOf(own === nt ? best : null, crl)];
  const doubt = judged ? nuchalDoubt(nt, crl) : null;
  return {
    status: 'partial',
    reason: {
      code: difference ? 'values_differ' : crl ? 'plane_not_all_assessed' : 'crl_missing',
      detail: gaps.join(' '),
      needs: crl ? [VIEW] : ['CRL of the same visit'],
    },
    summary: [
      `Nuchal translucency ${nuchalText(nt, crl)}${isOfMachine(nt) ? OF_MACHINE : ''}.`,
      ...classifications.map(({ name, value }) => `${name}: ${value.replaceAll('-', ' ')}.`),
      ...(doubt ? [doubt] : []),
      ...gaps,
    ].join(' '),
    data: { ...data, mom: judged && crl ? nuchalTranslucencyMoM(crl.value, nt.value) : null },
    measurements: all.map((one) => (judged && one === nt ? withReference(nt, crl) : one)),
    findings: [...(judged ? nuchalFindings(nt, crl) : []), ...differenceFinding(difference)],
    classifications,
    guidance: judged && nt.value >= HIGH_NT ? [HIGH_GUIDANCE] : [],
  };
}

function run(evidence: NuchalEvidence, earlier: readonly Measurement[]): SectionOutcome {
  const machine = machineValues(evidence, NUCHAL_SECTION, ['nuchal-translucency']);
  const readings = evidence.views.nuchal?.frames;
  // Where the structures lie is told whatever became of the thickness.
  const structures = midsagittalBoxes(readings);
  const told = (outcome: SectionOutcome): SectionOutcome => ({
    ...outcome,
    ...(structures.length > 0 && { data: { ...outcome.data, structures } }),
    ...(machine.unused && { summary: `${outcome.summary} ${machine.unused}` }),
  });
  const none = withoutFrames(readings);
  if (none && machine.measurements.length === 0) return told(none);
  const crl = judgedValue(earlier, 'crl');
  const window = windowMissed(evidence, crl);
  if (window) return told(outsideWindow(machine.measurements, window));
  const several = evidence.severalFetuses;
  return told(
    several ? apart(readings ?? [], several) : assess(readings ?? [], machine.measurements, crl),
  );
}

/** Nuchal translucency, nasal bone and plane adequacy (obstetric 6). */
export const nt: ObstetricSection<NuchalEvidence> = {
  id: NUCHAL_SECTION,
  title: 'Nuchal translucency',
  needs: [VIEW, 'CRL'],
  reads: ['nuchal'],
  run,
};
