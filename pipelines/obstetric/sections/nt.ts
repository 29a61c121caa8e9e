import { scaleFor } from '../../contract/study.ts';
import { findingConcept } from '../../result/concepts.ts';
import type { Finding, Measurement, Result } from '../../result/envelope.ts';
import {
  HIGH_NT,
  NT_WINDOW,
  nuchalCategory,
  nuchalTranslucency95,
  nuchalTranslucencyMoM,
} from '../charts/nuchal-translucency.ts';
import type { MidsagittalStructure } from '../locator.ts';
import { createMeasurement, format } from '../measurement.ts';
import type { MidsagittalReading } from '../read/nuchal.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';

const ID = 'nt';
const VIEW = 'a calibrated mid-sagittal view at 11 to 14 weeks';
/** Gestational days of the window, 11+0 to 14+1: protocol and Robinson ages of CRL 45 to 84 mm. */
const WINDOW_DAYS = { from: 77, to: 99 } as const;
/** "Calibration of 0.1 mm or better" (FMF protocol), millimetres per pixel. */
const COARSEST_MM_PER_PIXEL = 0.1;
/** Thinner or thicker is something else (obstetric reference 0.5). */
const PLAUSIBLE_MM = { from: 0.3, to: 20 } as const;
const FRAMES_PER_MEASUREMENT = 3;

function notAssessed(code: string, detail: string, needs: string[]): SectionOutcome {
  return { status: 'not_assessed', reason: { code, detail, needs }, summary: detail };
}

/** CRL in mm of this visit, from the sections before; null where none was accepted. */
function crlOf(earlier: readonly Measurement[]): Measurement | null {
  const found = earlier.find(
    ({ id, concept, quality }) => id === 'crl' && concept.key === 'crl' && quality === 'accepted',
  );
  return found ?? null;
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

const seen = ({ located }: MidsagittalReading, structure: MidsagittalStructure) =>
  located[structure]?.accepted === true;

interface Criterion {
  name: string;
  /** Null: a picture alone does not tell it, or nothing here looks at it. */
  met: boolean | null;
}

/** Plane adequacy (FMF protocol), the items that located structures can answer. */
function adequacy(reading: MidsagittalReading): Criterion[] {
  return [
    { name: 'tip of the nose seen', met: seen(reading, 'nasal-tip') },
    { name: 'palate seen', met: seen(reading, 'palate') },
    {
      name: 'thalami and midbrain seen',
      met: seen(reading, 'thalami') && seen(reading, 'midbrain'),
    },
    { name: 'nuchal membrane seen', met: reading.lines !== null },
    { name: 'neutral position of the head', met: null },
    { name: 'amnion apart from the membrane', met: null },
    { name: 'head and upper thorax fill the image', met: null },
  ];
}

function measurementOf(reading: MidsagittalReading, index: number): Measurement[] {
  const { clip, frame, lines, located } = reading;
  const region = lines && scaleFor(clip, lines.ends);
  if (!lines || !region) return [];
  const coarse = Math.max(region.scale.x, region.scale.y) > COARSEST_MM_PER_PIXEL + 1e-9;
  const implausible = lines.thickness < PLAUSIBLE_MM.from || lines.thickness > PLAUSIBLE_MM.to;
  const points = lines.ends.map(({ x, y }): [number, number] => [x, y]);
  const id = `nuchal-translucency-${index + 1}`;
  return [
    createMeasurement(id, 'nuchal-translucency', lines.thickness, 'nt-inner-inner', {
      section: ID,
      derivation: 'measured',
      source: {
        provenance: 'image-analysis',
        file: clip.file,
        sop_instance_uid: clip.sopInstanceUid,
        frame: frame.index + 1,
        calipers: [{ type: 'line', points }],
      },
      confidence: (located['nuchal-translucency']?.confidence ?? 0) * lines.seen,
      quality: implausible ? 'inadequate' : coarse ? 'low' : 'accepted',
      note: coarse
        ? `the image is calibrated more coarsely than ${COARSEST_MM_PER_PIXEL} mm per pixel`
        : null,
    }),
  ];
}

/** "The maximum that meets the criteria" stands under the plain id (FMF protocol). */
function withLargest(single: readonly Measurement[]): Measurement[] {
  const accepted = single.filter(({ quality }) => quality === 'accepted');
  const largest = accepted.reduce<Measurement | null>(
    (best, one) => (best === null || one.value > best.value ? one : best),
    null,
  );
  if (!largest) return [...single];
  return single.map((one) => (one === largest ? { ...one, id: 'nuchal-translucency' } : one));
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
    inputs: crl ? [crl.id] : [],
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
      section: ID,
      concept: findingConcept('nuchal-translucency'),
      name: 'Nuchal translucency',
      value,
      scheme: 'FMF 95th centile by CRL; 99th centile of Snijders 1998',
      criteria: [
        ...(limit === null
          ? []
          : [
              {
                name: `at least the 95th centile, ${limit.toFixed(1)} mm`,
                value: shown,
                met: nt.value >= limit,
              },
            ]),
        { name: `at least ${HIGH_NT} mm`, value: shown, met: nt.value >= HIGH_NT },
      ],
    },
  ];
}

function findings(nt: Measurement, crl: Measurement | null): Finding[] {
  const value = nuchalCategory(nt.value, crl?.value ?? null);
  if (value !== 'increased' && value !== 'high') return [];
  const limit = value === 'high' ? `${HIGH_NT} mm or more` : 'at or above the 95th centile';
  return [
    {
      id: 'increased-nuchal-translucency',
      section: ID,
      concept: findingConcept('nuchal-translucency'),
      text: `Nuchal translucency ${format('nuchal-translucency', nt.value)}, ${limit}.`,
      severity: 'abnormal',
      confidence: nt.confidence,
      evidence: [nt.id],
    },
  ];
}

const HIGH_GUIDANCE = {
  id: 'nuchal-translucency-high',
  section: ID,
  text: 'NT of 3.5 mm or more: diagnostic testing, detailed anatomy and fetal echocardiography are usually offered.',
  source: 'ISUOG 2023, Ultrasound Obstet Gynecol 61:127-143',
};

/** A bone that was not found is not an absent bone. */
function nasalBone(readings: readonly MidsagittalReading[]): Result['classifications'][number] {
  const found = readings.some((reading) => seen(reading, 'nasal-bone'));
  return {
    id: 'nasal-bone',
    section: ID,
    concept: findingConcept('nasal-bone'),
    name: 'Nasal bone',
    value: found ? 'present' : 'not-assessable',
    scheme: 'FMF protocol',
    criteria: [{ name: 'nasal bone located', value: found ? 'yes' : 'no', met: found }],
  };
}

function adequacyClass(criteria: readonly Criterion[]): Result['classifications'][number] {
  const assessed = criteria.flatMap(({ name, met }) =>
    met === null ? [] : [{ name, value: met ? 'yes' : 'no', met }],
  );
  return {
    id: 'nt-plane-adequacy',
    section: ID,
    concept: findingConcept('nt-plane-adequacy'),
    name: 'Adequacy of the NT plane',
    value: assessed.every(({ met }) => met) ? 'adequate-as-far-as-assessed' : 'inadequate',
    scheme: 'FMF protocol, items that the located structures answer',
    criteria: assessed,
  };
}

function run(evidence: ObstetricEvidence, earlier: readonly Measurement[]): SectionOutcome {
  const readings = evidence.views.nuchal?.frames;
  if (readings === null) {
    const detail = 'No model for the mid-sagittal view is permitted by the configuration.';
    return notAssessed('no_model', detail, ['a permitted fetal-midsagittal model']);
  }
  if (!readings?.length) {
    const detail = 'NT was not assessed: no first-trimester mid-sagittal view was found.';
    return notAssessed('view_missing', detail, [VIEW]);
  }
  const crl = crlOf(earlier);
  const outside = outsideWindow(evidence, crl);
  if (outside) return notAssessed('outside_window', outside, [VIEW]);
  const measured = readings.filter(({ lines }) => lines !== null);
  const all = withLargest(measured.slice(0, FRAMES_PER_MEASUREMENT).flatMap(measurementOf));
  const nt = all.find(({ id }) => id === 'nuchal-translucency') ?? null;
  const best = readings.find(({ clip, frame }) =>
    nt ? clip.file === nt.source.file && frame.index + 1 === nt.source.frame : true,
  );
  const criteria = best ? adequacy(best) : [];
  const common = [adequacyClass(criteria), nasalBone(readings)];
  const data = { plane_adequacy: criteria, crl_mm: crl?.value ?? null };
  if (!nt) {
    const uncalibrated = readings.every(({ clip }) => clip.regions.length === 0);
    const detail = uncalibrated
      ? 'NT was not measured: no physical scale was available.'
      : 'NT was not measured: the nuchal lines were not seen well enough.';
    const code = uncalibrated ? 'no_calibration' : 'low_confidence';
    return {
      status: uncalibrated ? 'not_assessed' : 'inadequate',
      reason: { code, detail, needs: [VIEW] },
      summary: detail,
      data,
      measurements: all,
      classifications: common,
    };
  }
  const crlGap = crl
    ? []
    : [`CRL was not measured: NT is given without a category below ${HIGH_NT} mm.`];
  const classifications = [...category(nt, crl), ...common];
  return {
    status: crl ? 'complete' : 'partial',
    reason: crl
      ? null
      : { code: 'crl_missing', detail: crlGap.join(' '), needs: ['CRL of the same visit'] },
    summary: [
      `Nuchal translucency ${format('nuchal-translucency', nt.value)}.`,
      ...classifications.map(({ name, value }) => `${name}: ${value.replaceAll('-', ' ')}.`),
      ...crlGap,
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
  id: ID,
  title: 'Nuchal translucency',
  needs: [VIEW, 'CRL'],
  reads: ['nuchal'],
  run,
};
