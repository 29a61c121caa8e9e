import { findingConcept } from '../../result/concepts.ts';
import type { Finding, Measurement, Result } from '../../result/envelope.ts';
import {
  HIGH_NT,
  NT_WINDOW,
  nuchalCategory,
  nuchalTranslucency95,
  nuchalTranslucencyMoM,
} from '../charts/nuchal-translucency.ts';
import { acrossCutOff } from '../cut-off.ts';
import { isOfMachine, judgedValue, machineValues } from '../early-machine.ts';
import { MACHINE_UNUSED } from '../machine-values.ts';
import { format } from '../measurement.ts';
import { measureNuchal } from '../nuchal-lengths.ts';
import {
  adequacyClass,
  NUCHAL_SECTION,
  nasalBone,
  openCriteria,
  planeAdequacy,
} from '../nuchal-plane.ts';
import type { MidsagittalReading } from '../read/nuchal.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';

const VIEW = 'a calibrated mid-sagittal view at 11 to 14 weeks';
/** Gestational days of the window, 11+0 to 14+1: protocol and Robinson ages of CRL 45 to 84 mm. */
const WINDOW_DAYS = { from: 77, to: 99 } as const;

function notAssessed(code: string, detail: string, needs: string[]): SectionOutcome {
  return { status: 'not_assessed', reason: { code, detail, needs }, summary: detail };
}

/** Why NT is not interpreted at this age; null where it may be. */
function outsideWindow(evidence: ObstetricEvidence, crl: Measurement | null): string | null {
  const detail = 'NT was not assessed: outside the window in which NT is interpreted';
  if (crl) {
    const within = crl.value >= NT_WINDOW.from && crl.value <= NT_WINDOW.to;
    return within ? null : `${detail} (CRL ${NT_WINDOW.from} to ${NT_WINDOW.to} mm).`;
  }
  const days = evidence.options.dating?.ga_days;
  if (days === undefined) return null;
  const within = days >= WINDOW_DAYS.from && days <= WINDOW_DAYS.to;
  return within ? null : `${detail} (11 to 14 weeks).`;
}

function withReference(nt: Measurement, crl: Measurement | null): Measurement {
  const high = crl ? nuchalTranslucency95(crl.value) : null;
  const category = nuchalCategory(nt.value, crl?.value ?? null);
  return {
    ...nt,
    reference:
      high === null
        ? null
        : { low: null, high, centile: null, z_score: null, chart: 'fmf-nuchal-translucency' },
    interpretation: category === null ? null : category === 'normal' ? 'N' : 'H',
    inputs: [...nt.inputs, ...(crl ? [crl.id] : [])],
  };
}

function category(nt: Measurement, crl: Measurement | null): Result['classifications'] {
  const value = nuchalCategory(nt.value, crl?.value ?? null);
  if (value === null) return [];
  const limit = crl ? nuchalTranslucency95(crl.value) : null;
  const shown = format('nuchal-translucency', nt.value);
  return [
    {
      id: 'nuchal-translucency-category',
      section: NUCHAL_SECTION,
      concept: findingConcept('nuchal-translucency'),
      name: 'Nuchal translucency',
      value,
      scheme: 'FMF 95th centile by CRL; 99th centile of Snijders 1998',
      criteria: [
        ...(limit === null
          ? []
          : [
              {
                name: `at least the 95th centile, ${limit.toFixed(2)} mm`,
                value: shown,
                met: nt.value >= limit,
              },
            ]),
        { name: `at least ${HIGH_NT} mm`, value: shown, met: nt.value >= HIGH_NT },
      ],
    },
  ];
}

/** Where the value is on neither side of a limit for sure; the finding stands, to be looked at. */
function doubtOf(nt: Measurement, crl: Measurement | null): string | null {
  const limit = crl ? nuchalTranslucency95(crl.value) : null;
  const limits = [...(limit === null ? [] : [Number(limit.toFixed(2))]), HIGH_NT];
  return acrossCutOff(nt.value, nt.uncertainty, limits);
}

function findings(nt: Measurement, crl: Measurement | null): Finding[] {
  const value = nuchalCategory(nt.value, crl?.value ?? null);
  if (value !== 'increased' && value !== 'high') return [];
  const limit = value === 'high' ? `${HIGH_NT} mm or more` : 'at or above the 95th centile';
  return [
    {
      id: 'increased-nuchal-translucency',
      section: NUCHAL_SECTION,
      concept: findingConcept('nuchal-translucency'),
      text: [
        `Nuchal translucency ${format('nuchal-translucency', nt.value)}, ${limit}.`,
        doubtOf(nt, crl),
      ]
        .filter(Boolean)
        .join(' '),
      severity: 'abnormal',
      confidence: nt.confidence,
      evidence: [nt.id],
    },
  ];
}

const HIGH_GUIDANCE = {
  id: 'nuchal-translucency-high',
  section: NUCHAL_SECTION,
  text: 'NT of 3.5 mm or more: diagnostic testing, detailed anatomy and fetal echocardiography are usually offered.',
  source: 'ISUOG 2023, Ultrasound Obstet Gynecol 61:127-143',
};

/** Why there is no thickness that stands. */
function whyNone(
  readings: readonly MidsagittalReading[],
  measured: readonly Measurement[],
): SectionOutcome {
  const [named] = measured;
  if (named) {
    const value = format('nuchal-translucency', named.value);
    const detail = `Nuchal translucency ${value} is not judged: ${named.note ?? ''}. Measure again on an adequate plane.`;
    return {
      status: 'inadequate',
      reason: { code: 'plane_inadequate', detail, needs: [VIEW] },
      summary: detail,
    };
  }
  const lines = readings.some((reading) => reading.lines !== null);
  const detail = lines
    ? 'NT was not measured: no physical scale was available.'
    : 'NT was not measured: the nuchal lines were not seen well enough.';
  return {
    status: lines ? 'not_assessed' : 'inadequate',
    reason: { code: lines ? 'no_calibration' : 'low_confidence', detail, needs: [VIEW] },
    summary: detail,
  };
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

function run(evidence: ObstetricEvidence, earlier: readonly Measurement[]): SectionOutcome {
  const { measurements: machine, severalFetuses } = machineValues(evidence, NUCHAL_SECTION, [
    'nuchal-translucency',
  ]);
  const unused = severalFetuses ? [MACHINE_UNUSED] : [];
  const given = evidence.views.nuchal?.frames;
  const none = withoutFrames(given);
  if (none && machine.length === 0) {
    return { ...none, summary: [none.summary, ...unused].join(' ') };
  }
  const crl = judgedValue(earlier, 'crl');
  const outside = outsideWindow(evidence, crl);
  if (outside) return notAssessed('outside_window', outside, [VIEW]);
  const readings = given ?? [];
  const all = [...machine, ...measureNuchal(readings)];
  const nt = judgedValue(all, 'nuchal-translucency');
  const own = all.find(({ id }) => id === 'nuchal-translucency') ?? null;
  const best =
    readings.find(
      ({ clip, frame }) =>
        !own || (clip.file === own.source.file && frame.index + 1 === own.source.frame),
    ) ?? null;
  const plane = best ? [adequacyClass(best), nasalBone(readings)] : [];
  const data = { plane_adequacy: best ? planeAdequacy(best) : [], crl_mm: crl?.value ?? null };
  if (!nt) {
    const why = whyNone(readings, all);
    const summary = [why.summary, ...unused].join(' ');
    return { ...why, summary, data, measurements: all, classifications: plane };
  }
  const classifications = [...category(nt, crl), ...plane];
  const gaps = [...gapsOf(own === nt ? best : null, crl), ...unused];
  const whose = isOfMachine(nt) ? ' (ultrasound machine)' : '';
  const doubt = doubtOf(nt, crl);
  return {
    status: 'partial',
    reason: {
      code: crl ? 'plane_not_all_assessed' : 'crl_missing',
      detail: gaps.join(' '),
      needs: crl ? [VIEW] : ['CRL of the same visit'],
    },
    summary: [
      `Nuchal translucency ${format('nuchal-translucency', nt.value)}${whose}.`,
      ...classifications.map(({ name, value }) => `${name}: ${value.replaceAll('-', ' ')}.`),
      ...(doubt ? [doubt] : []),
      ...gaps,
    ].join(' '),
    data: { ...data, mom: crl && nuchalTranslucencyMoM(crl.value, nt.value) },
    measurements: all.map((one) => (one === nt ? withReference(nt, crl) : one)),
    findings: findings(nt, crl),
    classifications,
    guidance: nt.value >= HIGH_NT ? [HIGH_GUIDANCE] : [],
  };
}

/** Nuchal translucency, nasal bone and plane adequacy (obstetric reference 6). */
export const nt: ObstetricSection = {
  id: NUCHAL_SECTION,
  title: 'Nuchal translucency',
  needs: [VIEW, 'CRL'],
  reads: ['nuchal'],
  run,
};
