import { describe, expect, test } from 'vitest';
import { decode } from '../../../../pipelines/artifacts/sr/decode.ts';
import { checkTemplate } from '../../../../pipelines/artifacts/sr/template-check.ts';
import { buildTid1500 } from '../../../../pipelines/artifacts/sr/tid1500.ts';
import { buildTid5000 } from '../../../../pipelines/artifacts/sr/tid5000.ts';
import type { Subject } from '../../../../pipelines/dicom/subject.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { measurement } from '../example-measurements.ts';
import { NOTHING_MEASURED, RESULT, TWINS } from '../example-result.ts';
import { ANONYMOUS, IDENTITY, SUBJECT } from '../example-subject.ts';
import { asFile, dciodvfy, hasPydicom, installed, PYTHON, run } from '../programs.ts';
import { sourceImage } from '../source-image.ts';

const NO_IMAGES: Subject = { ...ANONYMOUS, instances: [], dating: null };

const EXTREMES: Result = {
  ...RESULT,
  measurements: [
    measurement('tiny', 'fl', 1.234567890123456e-7),
    measurement('huge', 'efw', 123_456_789_012_345_680_000, { unit: 'g' }),
    measurement('negative', 'bpd', -1 / 3),
    measurement('zero', 'hc', 0),
  ],
};

const OTHER_SECTIONS: Result = {
  ...RESULT,
  measurements: [
    measurement('vp', 'atrial-width', 7.2),
    measurement('tcd', 'transcerebellar-diameter', 21.4),
    measurement('nt', 'nuchal-translucency', 1.6),
    measurement('crl', 'crl', 61.2),
    measurement('sac', 'sac-width', 22.5),
    measurement('fhr', 'fetal-heart-rate', 148, { unit: '{H.B.}/min' }),
  ],
};

const TO_REVIEW: Result = {
  ...RESULT,
  measurements: RESULT.measurements.map((one) => ({
    ...one,
    quality: 'review',
    standing: 'proposed',
  })),
};

const DOCUMENTS = { 'TID 1500': buildTid1500, 'TID 5000': buildTid5000 } as const;
const CASES: [string, Result, Subject][] = [
  ['a growth scan', RESULT, SUBJECT],
  ['a growth scan without identity', RESULT, ANONYMOUS],
  ['stills that were no DICOM images', RESULT, NO_IMAGES],
  ['a study without any measurement', NOTHING_MEASURED, SUBJECT],
  ['twins', TWINS, SUBJECT],
  ['values to review', TO_REVIEW, SUBJECT],
  ['cranium, early gestation and a heart rate', OTHER_SECTIONS, SUBJECT],
  ['very small, very large, negative and zero values', EXTREMES, SUBJECT],
];
const EVERY = CASES.flatMap(([name, result, subject]) =>
  Object.entries(DOCUMENTS).map(
    ([template, build]) => [template, name, build(result, subject)] as const,
  ),
);

describe.each(EVERY)('%s of %s', (_template, name, bytes) => {
  test('follows the rows of its template', () => {
    expect(checkTemplate(decode(bytes))).toEqual([]);
  });

  test.skipIf(!installed('dciodvfy'))('dciodvfy has no complaint', () => {
    const { code, complaints } = dciodvfy(asFile(bytes, 'dcm'));
    // The type 2 attributes that a DICOMDIR would need are empty in a document without identity, so
    // complaints about them are ignored.
    const identified = name !== CASES[1]?.[0] && name !== CASES[2]?.[0];
    const kept = complaints.filter((line) => identified || !line.includes('DICOMDIR'));
    expect({ code, kept }).toEqual({ code: 0, kept: [] });
  });

  test.skipIf(!installed('dsrdump'))('dsrdump reads it without error', () => {
    const { code, output } = run('dsrdump', [asFile(bytes, 'dcm')]);
    expect({ code, errors: output.match(/^[EF]: .*/gm) }).toEqual({ code: 0, errors: null });
  });
});

describe.skipIf(!installed('dsrdump'))('the whole tree as dsrdump prints it', () => {
  test.each(Object.entries(DOCUMENTS))('%s', async (template, build) => {
    const path = asFile(build(RESULT, SUBJECT), 'dcm');
    const { output } = run('dsrdump', ['-Ph', '+Pc', '+Pu', '+Pl', '+Pt', path]);
    const tree = output.replace(/^W: .*\n/gm, '');
    const file = `./golden/${template.toLowerCase().replace(' ', '-')}.txt`;
    await expect(tree).toMatchFileSnapshot(file);
  });
});

describe.skipIf(!installed('dcentvfy'))('dcentvfy on the source image and our documents', () => {
  const entities = (...files: Buffer[]) =>
    run(
      'dcentvfy',
      files.map((bytes) => asFile(bytes, 'dcm')),
    ).output.match(/^Error.*/gm);

  test('patient, study and series agree', () => {
    const documents = [buildTid1500(RESULT, SUBJECT), buildTid5000(RESULT, SUBJECT)];
    expect(entities(sourceImage(), ...documents)).toBeNull();
  });

  test('finds a document with another birth date', () => {
    const other = { ...SUBJECT, identity: { ...IDENTITY, PatientBirthDate: '19940313' } };
    expect(entities(sourceImage(), buildTid1500(RESULT, other))).not.toBeNull();
  });
});

describe.skipIf(!hasPydicom)('pydicom reads back', () => {
  const script = `
import sys, json, pydicom
ds = pydicom.dcmread(sys.argv[1])
nums = []
def walk(item):
    if item.ValueType == 'NUM' and item.MeasuredValueSequence:
        v = item.MeasuredValueSequence[0]
        nums.append([item.ConceptNameCodeSequence[0].CodeValue, float(v.NumericValue),
                     v.FloatingPointValue, v.MeasurementUnitsCodeSequence[0].CodeValue])
    for child in item.get('ContentSequence', []):
        walk(child)
walk(ds)
print(json.dumps({'name': str(ds.PatientName), 'class': ds.SOPClassUID, 'flags':
    [ds.CompletionFlag, ds.VerificationFlag, ds.PreliminaryFlag], 'nums': nums}))
`;
  const read = (bytes: Buffer) =>
    JSON.parse(run(PYTHON, ['-c', script, asFile(bytes, 'dcm')]).output);

  test('name, flags and every kind of value of TID 5000', () => {
    const seen = read(buildTid5000(RESULT, SUBJECT));
    expect(seen).toMatchObject({
      name: IDENTITY.PatientName,
      class: '1.2.840.10008.5.1.4.1.1.88.33',
      flags: ['PARTIAL', 'UNVERIFIED', 'PRELIMINARY'],
    });
    expect(seen.nums).toEqual(
      expect.arrayContaining([
        ['11984-2', 262.4, 262.4, 'mm'],
        ['11979-2', 214.9, 214.9, 'mm'],
        ['11963-6', 51.7, 51.7, 'mm'],
        ['11947-9', expect.closeTo(122.1), expect.closeTo(122.1), '%'],
        ['11885-1', 196, 196, 'd'],
        ['18185-9', 199.6, 199.6, 'd'],
        ['11888-5', 191.2, 191.2, 'd'],
        ['11727-5', 1003.7, 1003.7, 'g'],
        ['11767-1', 13.9, 13.9, '%'],
        ['125012', 5.2, 5.2, '%'],
      ]),
    );
  });

  test('a value that is written with ten digits and stored with all of them', () => {
    const seen = read(buildTid1500(EXTREMES, SUBJECT));
    expect(seen.nums).toEqual([
      ['11963-6', 1.23456789e-7, 1.234567890123456e-7, 'mm'],
      ['11727-5', 1.23456789e20, 123_456_789_012_345_680_000, 'g'],
      ['11820-8', -0.3333333333, -1 / 3, 'mm'],
      ['11984-2', 0, 0, 'mm'],
    ]);
  });
});
