import { describe, expect, test } from 'vitest';
import { type ContentItem, walk } from '../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../pipelines/artifacts/sr/decode.ts';
import { checkTemplate } from '../../../pipelines/artifacts/sr/template-check.ts';
import { buildTid1500 } from '../../../pipelines/artifacts/sr/tid1500.ts';
import { buildTid5000 } from '../../../pipelines/artifacts/sr/tid5000.ts';
import type { Subject } from '../../../pipelines/dicom/subject.ts';
import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';
import { asRepeat } from '../../../pipelines/result/measured.ts';
import { withStanding } from '../../../pipelines/result/standing.ts';
import { AC, HC, measurement } from './example-measurements.ts';
import { NOTHING_MEASURED, RESULT, TWINS } from './example-result.ts';
import { ANONYMOUS, IDENTITY, SUBJECT } from './example-subject.ts';

const DOCUMENTS = { 'TID 1500': buildTid1500, 'TID 5000': buildTid5000 } as const;

const items = (bytes: Buffer): ContentItem[] => [...walk(decode(bytes).root)];
const named = (bytes: Buffer, meaning: string) =>
  items(bytes).filter(({ name }) => name?.meaning === meaning);
const texts = (bytes: Buffer) =>
  items(bytes).flatMap(({ value }) => (value.type === 'TEXT' ? [value.text] : []));
const numbers = (bytes: Buffer, meaning: string) =>
  named(bytes, meaning).map(({ value }) =>
    value.type === 'NUM' ? (value.quantity?.value ?? null) : undefined,
  );

describe('the order of a study', () => {
  const order = {
    accessionNumber: 'ACC-7',
    placerOrderNumber: 'PL1',
    requestedProcedureId: 'RP1',
    requestedProcedure: 'Growth scan',
    referringPhysicianName: 'Roe^Jane',
    joined: ['accessionNumber', 'referringPhysicianName'],
  };
  const identity = { ...IDENTITY, AccessionNumber: '', ReferringPhysicianName: '' };

  test('from a worklist is referenced, and the study keeps its own attributes', () => {
    const { header } = decode(buildTid1500(RESULT, { ...SUBJECT, identity, order }));
    expect(header.AccessionNumber).toBe('');
    expect([header.ReferringPhysicianName].flat()).toEqual([]);
    expect([header.ReferencedRequestSequence].flat()[0]).toMatchObject({
      AccessionNumber: 'ACC-7',
      PlacerOrderNumberImagingServiceRequest: 'PL1',
      RequestedProcedureID: 'RP1',
      RequestedProcedureDescription: 'Growth scan',
    });
  });

  test('without an accession number is not referenced', () => {
    const { header } = decode(buildTid1500(RESULT, { ...SUBJECT, identity }));
    expect(header.ReferencedRequestSequence).toBeUndefined();
  });
});

describe('identity', () => {
  test('patient and study attributes are those of the source images, letter by letter', () => {
    const { header } = decode(buildTid5000(RESULT, SUBJECT));
    expect(header).toMatchObject({
      PatientID: IDENTITY.PatientID,
      IssuerOfPatientID: IDENTITY.IssuerOfPatientID,
      PatientBirthDate: IDENTITY.PatientBirthDate,
      StudyInstanceUID: IDENTITY.StudyInstanceUID,
      AccessionNumber: IDENTITY.AccessionNumber,
    });
  });

  test('an anonymous document has no identity in any attribute or text', () => {
    const bytes = buildTid5000(RESULT, ANONYMOUS).toString('latin1');
    for (const secret of ['Beispiel', 'PID-4711', '19940312', 'ACC-2026-5', '2.25.1111\0']) {
      expect(bytes).not.toContain(secret);
    }
  });

  test('the anonymous and the identified copy are different objects', () => {
    const uid = (subject: Subject) => decode(buildTid1500(RESULT, subject)).header.SOPInstanceUID;
    expect(uid(ANONYMOUS)).not.toBe(uid(SUBJECT));
  });

  test('a document that is built again is the same object, byte for byte', () => {
    expect(buildTid1500(RESULT, SUBJECT)).toEqual(buildTid1500(RESULT, SUBJECT));
  });

  test('another request gives another object in another series', () => {
    const other = decode(buildTid1500(RESULT, { ...SUBJECT, requestId: 'req_other' })).header;
    const first = decode(buildTid1500(RESULT, SUBJECT)).header;
    expect(other.SOPInstanceUID).not.toBe(first.SOPInstanceUID);
    expect(other.SeriesInstanceUID).not.toBe(first.SeriesInstanceUID);
  });

  test('times are in the timezone of the source images', () => {
    const { header } = decode(buildTid1500(RESULT, SUBJECT));
    expect(header).toMatchObject({
      TimezoneOffsetFromUTC: '+0200',
      ContentDate: '20260504',
      ContentTime: '103112.345',
    });
  });
});

describe('remarks that must be read with a value', () => {
  test.each(Object.entries(DOCUMENTS))('%s has the remark on the estimated weight', (_, build) => {
    expect(texts(build(RESULT, SUBJECT)).join()).toContain('Half width 15 % of the estimate.');
  });
});

describe('what was not accepted or not assessed', () => {
  test('a value below its gate has a reason but no number in TID 1500', () => {
    const bytes = buildTid1500(RESULT, SUBJECT);
    expect(numbers(bytes, 'Occipital-Frontal Diameter')).toEqual([null]);
    expect(texts(bytes)).toContain(
      'Occipitofrontal diameter was measured but not accepted: confidence too low.',
    );
  });

  test('a value below its gate is mentioned in TID 5000 but has no row there', () => {
    const bytes = buildTid5000(RESULT, SUBJECT);
    expect(numbers(bytes, 'Occipital-Frontal Diameter')).toEqual([]);
    expect(texts(bytes).join()).toContain('Occipitofrontal diameter was measured but not accepted');
  });

  test.each(Object.entries(DOCUMENTS))('%s lists every section with its reason', (_, build) => {
    const all = texts(build(RESULT, SUBJECT)).join('\n');
    for (const { title } of RESULT.sections) expect(all).toContain(title);
    expect(all).toContain('Cervix: Not assessed. This version does not assess cervix.');
  });

  test.each(Object.entries(DOCUMENTS))(
    '%s without a value states this with the reason',
    (_, build) => {
      const bytes = build(NOTHING_MEASURED, SUBJECT);
      const all = texts(bytes).join('\n');
      expect(all).toContain(
        'No measurement was made. Biometry: No head, abdomen or femur plane was found.',
      );
    },
  );

  test('is COMPLETE only if every requested section is complete', () => {
    const complete: Result = {
      ...RESULT,
      sections: RESULT.sections.map((section, index) => ({
        ...section,
        status: index === 0 ? 'not_requested' : 'complete',
      })),
    };
    const flag = (result: Result) => decode(buildTid5000(result, SUBJECT)).header.CompletionFlag;
    expect([flag(complete), flag(RESULT)]).toEqual(['COMPLETE', 'PARTIAL']);
  });
});

describe('evidence', () => {
  test('a caliper refers to its image, and to the frame if the image has several', () => {
    const regions = named(buildTid1500(RESULT, SUBJECT), 'Image Region');
    const images = regions.map(({ items: [on] }) => on?.value);
    expect(images).toEqual([
      expect.objectContaining({
        image: expect.objectContaining({ sopInstanceUid: '2.25.2001', frame: null }),
      }),
      expect.objectContaining({
        image: expect.objectContaining({ sopInstanceUid: '2.25.2002', frame: 5 }),
      }),
    ]);
  });

  test('coordinates are measured from the corner of the first pixel', () => {
    const [caliper] = named(
      buildTid5000({ ...RESULT, measurements: [AC] }, SUBJECT),
      'Source of Measurement',
    );
    expect(caliper?.value).toMatchObject({
      graphic: { shape: 'ELLIPSE', data: [200.5, 240.5, 440.5, 240.5, 320.5, 130.5, 320.5, 350.5] },
    });
  });

  test('a caliper that leaves the image is not drawn, but the image is still listed', () => {
    const outside = {
      ...HC,
      source: {
        ...HC.source,
        calipers: [
          {
            type: 'line' as const,
            points: [[-20, 10] as [number, number], [50, 60] as [number, number]],
          },
        ],
      },
    };
    const [source] = named(
      buildTid5000({ ...RESULT, measurements: [outside] }, SUBJECT),
      'Source of Measurement',
    );
    expect(source?.value.type).toBe('IMAGE');
  });

  test('each model is listed with the hash of its weights', () => {
    const parameters = texts(buildTid1500(RESULT, SUBJECT));
    for (const { id, version, sha256 } of RESULT.models) {
      expect(parameters).toContain(`model=${id};version=${version};sha256=${sha256}`);
    }
  });

  test('tracking identifiers are unique, and their UIDs are the same in a second run', () => {
    const tracked = (subject: Subject) =>
      named(buildTid1500(RESULT, subject), 'Tracking Unique Identifier').map(({ value }) =>
        value.type === 'UIDREF' ? value.uid : '',
      );
    const first = tracked(SUBJECT);
    expect(new Set(first).size).toBe(RESULT.measurements.length);
    expect(tracked({ ...SUBJECT, requestId: 'req_second' })).toEqual(first);
  });
});

describe('twins', () => {
  const bytes = buildTid5000(TWINS, SUBJECT);

  test('have each section once per fetus, beginning with its subject', () => {
    for (const section of ['Fetus Summary', 'Fetal Biometry', 'Fetal Biometry Ratios']) {
      const subjects = named(bytes, section).map(({ items: children }) =>
        children.slice(0, 2).map(({ value }) => (value.type === 'TEXT' ? value.text : value.type)),
      );
      expect(subjects).toEqual([
        ['CODE', 'A'],
        ['CODE', 'B'],
      ]);
    }
  });

  test('have no value of an unlabelled fetus, which is reported', () => {
    const stray = {
      ...TWINS,
      measurements: [...TWINS.measurements, measurement('stray', 'tad', 70)],
    };
    const document = buildTid5000(stray, SUBJECT);
    expect(numbers(document, 'Transverse Abdominal Diameter')).toEqual([]);
    expect(texts(document).join()).toContain('could not be assigned to a fetus');
  });

  const byFetus = (document: Buffer, section: string) =>
    named(document, section).map(({ items: children }) =>
      children.flatMap<string | number | undefined>(({ name, value }) => {
        if (name?.meaning === 'Subject ID') return value.type === 'TEXT' ? [value.text] : [];
        return value.type === 'NUM' ? [value.quantity?.value] : [];
      }),
    );

  test('of which one has no accepted value keep the name of the other', () => {
    const measurements = TWINS.measurements.map(
      (one): Measurement => (one.fetus === 'A' ? { ...one, quality: 'review' } : one),
    );
    const document = buildTid5000({ ...TWINS, measurements }, SUBJECT);
    expect(
      byFetus(document, 'Fetus Summary').map(([id, place, total]) => [id, place, total]),
    ).toEqual([
      ['A', 1, 2],
      ['B', 2, 2],
    ]);
    expect(byFetus(document, 'Fetal Biometry')).toEqual([['B', 2, 2]]);
    expect(checkTemplate(decode(document))).toEqual([]);
  });

  test('of which only the second has values are two', () => {
    const second = {
      ...TWINS,
      measurements: TWINS.measurements.filter(({ fetus }) => fetus === 'B'),
    };
    const document = buildTid5000(second, SUBJECT);
    expect(byFetus(document, 'Fetal Biometry')).toEqual([['B', 2, 2]]);
    expect(numbers(buildTid1500(second, SUBJECT), 'Fetus Number')).not.toContain(1);
  });

  test('have the values of their mother once, without a fetus', () => {
    const mother = [
      measurement('left', 'uterine-artery-pi', 0.9, { unit: '1', laterality: 'left' }),
      measurement('cervix', 'cervical-length', 31),
    ];
    const fetal = ['A', 'B'].flatMap((fetus) => [
      measurement(`ua-${fetus}`, 'umbilical-artery-pi', 1.1, { unit: '1', fetus }),
      measurement(`mca-${fetus}`, 'middle-cerebral-artery-pi', 1.9, { unit: '1', fetus }),
    ]);
    const measurements = [...TWINS.measurements, ...fetal, ...mother];
    const document = buildTid5000({ ...TWINS, measurements }, SUBJECT);
    expect(byFetus(document, 'Uterine artery')).toEqual([[0.9]]);
    expect(byFetus(document, 'Umbilical artery')).toEqual([
      ['A', 1, 2, 1.1],
      ['B', 2, 2, 1.1],
    ]);
    expect(numbers(document, 'Cervix Length')).toEqual([31]);
    expect(texts(document).join()).not.toContain('could not be assigned to a fetus');
    expect(checkTemplate(decode(document))).toEqual([]);
  });

  test('a single fetus has no Subject ID', () => {
    expect(named(buildTid5000(RESULT, SUBJECT), 'Subject ID')).toEqual([]);
  });
});

describe('values to review', () => {
  test('are mentioned once in TID 5000, each with its side', () => {
    const review = { quality: 'review', standing: 'proposed', label: 'PI' } as const;
    const measurements = [
      measurement('left', 'uterine-artery-pi', 0.9, { ...review, laterality: 'left' }),
      measurement('left-2', 'uterine-artery-pi', 0.8, { ...review, laterality: 'left' }),
      measurement('again', 'uterine-artery-pi', 0.8, { ...review, standing: 'repeat' }),
    ];
    const [comment = ''] = named(buildTid5000({ ...RESULT, measurements }, SUBJECT), 'Comment').map(
      ({ value }) => (value.type === 'TEXT' ? value.text : ''),
    );
    expect(comment.match(/Proposal: .*/g)).toEqual([
      'Proposal: PI (left) was measured and needs review by a person before use.',
    ]);
  });
});

describe('gestational ages in TID 5000', () => {
  test('by CRL and by the sac are written beside their quantity, with their equation', () => {
    const early = [
      measurement('crl', 'crl', 60),
      measurement('mean-sac-diameter', 'mean-sac-diameter', 20),
      measurement('ga-by-crl', 'ga-by-crl', 86.4, {
        unit: 'd',
        method: 'robinson-1975-ga-crl',
        inputs: ['crl'],
      }),
      measurement('ga-by-sac', 'ga-by-sac', 50, {
        unit: 'd',
        method: 'nyberg-ga-msd',
        inputs: ['mean-sac-diameter'],
      }),
    ];
    const document = buildTid5000({ ...RESULT, measurements: early }, SUBJECT);
    const groups = named(document, 'Biometry Group').map(({ items: children }) =>
      children.map(({ name, value }) => [
        name?.meaning,
        value.type === 'NUM' ? value.quantity?.value : null,
      ]),
    );
    expect(groups).toEqual([
      [
        ['Crown Rump Length', 60],
        ['Gestational Age', 86.4],
      ],
      [
        ['Gestational Sac Diameter', 20],
        ['Gestational Age', 50],
      ],
    ]);
    expect(checkTemplate(decode(document))).toEqual([]);
  });
});

describe('repeated values in TID 5000', () => {
  const repeated = (given: readonly Measurement[]) =>
    buildTid5000({ ...RESULT, measurements: withStanding(given) }, SUBJECT);

  test('list the median before the individual values, since a receiver may use the first', () => {
    const median = measurement('hc', 'hc', 262, {
      derivation: 'median',
      inputs: ['hc-1', 'hc-2', 'hc-3'],
    });
    const singles = [264, 260, 262].map((mm, at) => measurement(`hc-${at + 1}`, 'hc', mm));
    expect(numbers(repeated([...singles, median]), 'Head Circumference')).toEqual([
      262, 264, 260, 262,
    ]);
  });

  test('contain only the chosen heart rate', () => {
    const rate = (id: string, value: number) =>
      measurement(id, 'fetal-heart-rate', value, { section: 'fetal-heart', unit: '{H.B.}/min' });
    const document = repeated([
      asRepeat(rate('fetal-heart-rate-doppler-2', 150)),
      rate('fetal-heart-rate', 147),
    ]);
    expect(numbers(document, 'Fetal Heart Rate')).toEqual([147]);
  });
});

describe('gestational age in TID 5000', () => {
  test("from one quantity is in that quantity's group, with the coded equation", () => {
    const groups = named(buildTid5000(RESULT, SUBJECT), 'Biometry Group');
    const head = groups.find(({ items: [first] }) => first?.name?.code === '11984-2');
    const age = head?.items.find(({ name }) => name?.code === '18185-9');
    expect(age?.items[0]?.value).toMatchObject({ code: { scheme: 'LN', code: '11932-1' } });
  });

  test.each([
    ['lmp', 'Gestational Age by LMP'],
    ['crl', 'Gestational Age'],
    ['ivf', 'Gestational Age'],
  ])('stated by %s is called "%s"', (basis, meaning) => {
    const document = buildTid5000(NOTHING_MEASURED, { ...SUBJECT, dating: { gaDays: 140, basis } });
    expect(numbers(document, meaning)).toEqual([140]);
  });

  test('the due date is 280 days from the day of the last menstrual period', () => {
    const [due] = named(buildTid5000(RESULT, SUBJECT), 'EDD');
    expect(due?.value).toEqual({ type: 'DATE', date: '20260727' });
  });

  test('without a stated age there is neither age nor due date', () => {
    const document = buildTid5000(NOTHING_MEASURED, { ...SUBJECT, dating: null });
    expect([...named(document, 'EDD'), ...named(document, 'Gestational Age')]).toEqual([]);
  });
});
