import {
  type ConceptKey,
  findingConcept,
  type MethodKey,
  measurementConcept,
} from '../../pipelines/concepts/concepts.ts';
import type { Subject } from '../../pipelines/dicom/subject.ts';
import { type Measurement, type Result, resultSchema } from '../../pipelines/result/envelope.ts';
import { withStanding } from '../../pipelines/result/standing.ts';

/** Identity of the sample patient, not a real person. */
export const PATIENT_ID = '0012345';
export const PATIENT_NAME = 'Müller^Ana';

export function sampleMeasurement(
  key: ConceptKey,
  value: number,
  method: MethodKey,
  change: Partial<Measurement> = {},
): Measurement {
  return {
    id: key,
    section: 'biometry',
    concept: measurementConcept(key),
    label: key.toUpperCase(),
    value,
    unit: 'mm',
    method,
    derivation: 'median',
    source: {
      provenance: 'model',
      file: 'head.dcm',
      sop_instance_uid: '1.2.3.4.5.1',
      frame: 1,
      calipers: [
        {
          type: 'line',
          points: [
            [10, 10],
            [20, 20],
          ],
        },
      ],
    },
    site: null,
    laterality: null,
    fetus: null,
    phase: null,
    confidence: 0.93,
    uncertainty: 2.1,
    quality: 'accepted',
    reference: null,
    interpretation: null,
    inputs: [],
    origin: 'image',
    standing: 'counts',
    remarks: [],
    note: null,
    ...change,
  };
}

/** Returns a finished obstetric result with one example for each mapping rule. */
export function sampleResult(change: Partial<Result> = {}): Result {
  const result = resultSchema.parse({
    schema: 'sonogate.result/1',
    endpoint: 'us/obstetric/interpret',
    version: '1.0.0',
    generated_at: '2026-03-04T10:11:12.345Z',
    models: [
      {
        id: 'fetal-head',
        version: '1.0.0',
        sha256: 'ab'.repeat(32),
        licence: 'CC-BY-4.0',
        pack: 'permissive',
        provider: 'cpu',
      },
    ],
    draft: true,
    input_summary: {
      files: 1,
      series: 1,
      clips: 1,
      frames: 1,
      calibrated_frames: 1,
      modes: ['2d'],
      refused: [],
      priors: 0,
    },
    sections: [
      section('biometry', 'Biometry', 'complete', null),
      section('growth', 'Growth', 'complete', null),
      section('fetal-heart', 'Fetal heart', 'not_assessed', {
        code: 'not_in_this_version',
        detail: 'No four-chamber view was among the images.',
        needs: ['four-chamber view'],
      }),
    ],
    findings: [
      {
        id: 'small',
        section: 'growth',
        concept: findingConcept('size-for-gestational-age'),
        text: 'Estimated fetal weight is below the 10th centile.',
        severity: 'abnormal',
        confidence: null,
        evidence: ['efw'],
      },
    ],
    measurements: [
      sampleMeasurement('hc', 280.123456789, 'hc-ellipse', {
        reference: {
          low: 262,
          high: 301,
          centile: 42.5,
          z_score: -0.19,
          chart: 'intergrowth-2014-size',
        },
        interpretation: 'N',
      }),
      sampleMeasurement('ac', 240.5, 'ac-ellipse'),
      sampleMeasurement('fl', 55.2, 'fl-outer-outer', { quality: 'low', note: 'One frame only.' }),
      sampleMeasurement('hc-ac-ratio', 1.1648, 'ratio', {
        unit: '1',
        derivation: 'calculated',
        confidence: null,
        uncertainty: null,
        inputs: ['hc', 'ac'],
      }),
      sampleMeasurement('efw', 1350, 'hadlock-1985-efw-hc-ac-fl', {
        section: 'growth',
        unit: 'g',
        derivation: 'calculated',
        confidence: null,
        inputs: ['hc', 'ac', 'fl'],
        interpretation: 'L',
        reference: {
          low: null,
          high: null,
          centile: 8,
          z_score: null,
          chart: 'intergrowth-2020-efw',
        },
      }),
    ],
    scores: [
      {
        id: 'plane-head',
        section: 'biometry',
        concept: null,
        name: 'Plane quality',
        value: 5,
        range: [0, 6],
        components: [{ name: 'symmetric', value: 1 }],
      },
    ],
    classifications: [
      {
        id: 'size',
        section: 'growth',
        concept: findingConcept('size-for-gestational-age'),
        name: 'Size for gestational age',
        value: 'small',
        scheme: 'Delphi 2016',
        criteria: [{ name: 'EFW below the 10th centile', value: '8', outcome: 'met', met: true }],
      },
    ],
    guidance: [],
    report: null,
    artifacts: [],
    ...change,
  });
  return { ...result, measurements: withStanding(result.measurements) };
}

function section(
  id: string,
  title: string,
  status: Result['sections'][number]['status'],
  reason: Result['sections'][number]['reason'],
): Result['sections'][number] {
  return { id, title, status, reason, summary: '', data: {}, artifacts: [] };
}

/** Returns a DICOM study of the sample patient. */
export function sampleSubject(
  requestId = 'req_01jabcdefghijkmnpqrstvwxyz',
  change: Partial<NonNullable<Subject['identity']>> = {},
): Subject {
  return {
    requestId,
    identity: {
      SpecificCharacterSet: 'ISO_IR 100',
      PatientName: PATIENT_NAME,
      PatientID: PATIENT_ID,
      IssuerOfPatientID: 'HOSPITAL',
      PatientBirthDate: '19900402',
      PatientSex: 'F',
      StudyInstanceUID: '1.2.3.4',
      StudyDate: '20260304',
      StudyTime: '101112.5',
      StudyID: '1',
      StudyDescription: 'OB growth',
      AccessionNumber: 'ACC-00042',
      ReferringPhysicianName: '',
      AcquisitionDateTime: '',
      TimezoneOffsetFromUTC: '+0100',
      ...change,
    },
    instances: [
      {
        sopClassUid: '1.2.840.10008.5.1.4.1.1.6.1',
        sopInstanceUid: '1.2.3.4.5.1',
        seriesInstanceUid: '1.2.3.4.5',
        file: 'head.dcm',
        numberOfFrames: 1,
        rows: 600,
        columns: 800,
      },
    ],
    dating: { gaDays: 212, basis: 'lmp' },
  };
}
