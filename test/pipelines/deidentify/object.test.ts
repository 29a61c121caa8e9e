import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import dcmjs, { type NaturalDataset } from 'dcmjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeidentificationSettings } from '../../../config/peers.ts';
import { deidentifyObject } from '../../../pipelines/deidentify/object.ts';
import { patientKey } from '../../../pipelines/deidentify/pseudonyms.ts';
import { itemsOf } from '../../../pipelines/dicom/data-set.ts';
import { decodeFileMeta, encodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import { DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { ANONYMIZER_INSTALLED, wrongByAnnexE } from '../../peers/annex-e.ts';
import { DCMTK_INSTALLED, dcmtk } from '../../peers/dcmtk.ts';
import {
  IDENTIFYING,
  IMAGE_UID,
  image,
  nameOnPicture,
  pageOfText,
  report,
  WHOLE_SCREEN,
} from './sample.ts';

const SETTINGS: DeidentificationSettings = {
  dates: 'shifted',
  patientCharacteristics: false,
  withoutRegions: 'hold',
};
const SECRET = Buffer.alloc(32, 7);
/** Device of Linux on which every write fails as on a full disk. */
const FULL_DISK = '/dev/full';

let folder = '';
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-deidentify-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Copy {
  held: string | null;
  paths: [string, string];
  bytes: Buffer;
  dataSet: NaturalDataset;
}

async function copyOf(
  object: Buffer,
  settings: Partial<DeidentificationSettings> = {},
  secret = SECRET,
  patient = 'the patient',
): Promise<Copy> {
  count += 1;
  const paths: [string, string] = [join(folder, `${count}.dcm`), join(folder, `${count}.copy.dcm`)];
  await writeFile(paths[0], object);
  const held = await deidentifyObject({
    source: paths[0],
    target: paths[1],
    settings: { ...SETTINGS, ...settings },
    secret,
    patient,
    signal: new AbortController().signal,
  });
  if (held !== null) return { held, paths, bytes: Buffer.alloc(0), dataSet: {} };
  const bytes = await readFile(paths[1]);
  const { dict } = dcmjs.data.DicomMessage.readFile(Uint8Array.from(bytes).buffer);
  return { held, paths, bytes, dataSet: dcmjs.data.DicomMetaDictionary.naturalizeDataset(dict) };
}

/**
 * Returns the identifying values that occur in the bytes, in any encoding that DICOM allows for
 * them.
 */
function found(bytes: Buffer): string[] {
  const text = bytes.toString('latin1').toUpperCase();
  return IDENTIFYING.filter((value) => text.includes(value.toUpperCase()));
}

function pixelsOf(dataSet: NaturalDataset): Uint8Array {
  const [pixels] = dataSet.PixelData as ArrayBuffer[];
  return new Uint8Array(pixels ?? new ArrayBuffer(0));
}

function brightest(dataSet: NaturalDataset, area: { x: number; y: number; w: number; h: number }) {
  const columns = Number(dataSet.Columns);
  const pixels = pixelsOf(dataSet);
  let most = 0;
  for (let y = area.y; y < area.y + area.h; y += 1) {
    for (let x = area.x; x < area.x + area.w; x += 1)
      most = Math.max(most, pixels[y * columns + x] ?? 0);
  }
  return most;
}

describe('the sample', () => {
  it('contains every identifying value', async () => {
    const both = Buffer.concat([await image(), report()]);
    expect(found(both)).toEqual([...IDENTIFYING]);
  });
});

describe('a de-identified image', () => {
  it('contains no identifying value in any byte', async () => {
    const { held, bytes } = await copyOf(await image());
    expect(held).toBeNull();
    expect(found(bytes)).toEqual([]);
  });

  it('states how it was de-identified', async () => {
    const { dataSet } = await copyOf(await image());
    expect(dataSet).toMatchObject({
      PatientIdentityRemoved: 'YES',
      BurnedInAnnotation: 'NO',
      LongitudinalTemporalInformationModified: 'MODIFIED',
    });
    expect(
      itemsOf(dataSet.DeidentificationMethodCodeSequence).map((code) => code.CodeValue),
    ).toEqual(['113100', '113101', '113105', '113107']);
  });

  it('shows no name on the screen, and the ultrasound unchanged', async () => {
    const original = await image();
    const { dataSet } = await copyOf(original);
    const size = { columns: Number(dataSet.Columns), rows: Number(dataSet.Rows) };
    expect(brightest(dataSet, { x: 0, y: 0, w: size.columns, h: 30 })).toBe(0);
    const name = nameOnPicture(size);
    expect(brightest(dataSet, { ...name, w: 190, h: 21 })).toBe(0);
    const left = pixelsOf(dataSet);
    const before = pixelsOf(
      dcmjs.data.DicomMetaDictionary.naturalizeDataset(
        dcmjs.data.DicomMessage.readFile(Uint8Array.from(original).buffer).dict,
      ),
    );
    const kept = left.filter((value, at) => value > 0 && value === before[at]).length;
    const changed = left.filter((value, at) => value > 0 && value !== before[at]).length;
    expect(changed).toBe(0);
    expect(kept).toBeGreaterThan(0.3 * left.length);
  });

  it('keeps calibration, timing and machine, and the known words in descriptions', async () => {
    const { dataSet } = await copyOf(await image({ frames: 3 }));
    expect(dataSet).toMatchObject({
      StudyDescription: 'OB 2nd trimester for',
      SeriesDescription: 'fetal growth',
      NumberOfFrames: 3,
      FrameTime: 40,
    });
    expect(itemsOf(dataSet.SequenceOfUltrasoundRegions)[0]?.PhysicalDeltaX).toBeGreaterThan(0);
    expect(itemsOf(dataSet.ProcedureCodeSequence)[0]).toMatchObject({
      CodeValue: 'OB2',
      CodeMeaning: 'OB scan',
    });
  });

  it('shifts all dates of a patient by the same number of days, and keeps the time of day', async () => {
    const { dataSet } = await copyOf(await image());
    const day = (text: unknown) =>
      Date.parse(String(text).replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3')) / 86_400_000;
    expect(day(dataSet.StudyDate) - day(dataSet.LastMenstrualDate)).toBe(168);
    expect(day('20260115') - day(dataSet.StudyDate)).toBeGreaterThanOrEqual(365);
    expect(dataSet.StudyTime).toBe('101500');
    expect(dataSet.PatientBirthDate ?? '').toBe('');
  });

  it('has no dates if dates are to be removed', async () => {
    const { dataSet, bytes } = await copyOf(await image(), { dates: 'removed' });
    expect(dataSet.StudyDate ?? '').toBe('');
    expect(dataSet.LastMenstrualDate).toBeUndefined();
    expect(dataSet.LongitudinalTemporalInformationModified).toBe('REMOVED');
    expect(found(bytes)).toEqual([]);
  });

  it('has age, sex, height and weight only if the setting keeps them', async () => {
    const without = (await copyOf(await image())).dataSet;
    const kept = (await copyOf(await image(), { patientCharacteristics: true })).dataSet;
    expect([without.PatientAge, without.PatientSex ?? '', without.PatientWeight]).toEqual([
      undefined,
      '',
      undefined,
    ]);
    expect(kept).toMatchObject({ PatientAge: '032Y', PatientSex: 'F', PatientWeight: 70.25 });
  });

  it("is the same object each time, and belongs with the patient's report and priors", async () => {
    const [one, again, sr] = await Promise.all([
      copyOf(await image()),
      copyOf(await image()),
      copyOf(report()),
    ]);
    expect(again?.bytes.equals(one?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect(sr?.dataSet).toMatchObject({
      PatientID: one?.dataSet.PatientID,
      StudyInstanceUID: one?.dataSet.StudyInstanceUID,
      StudyDate: one?.dataSet.StudyDate,
    });
    const [biometry] = itemsOf(sr?.dataSet.ContentSequence).filter(
      ({ ValueType }) => ValueType === 'CONTAINER',
    );
    const [num] = itemsOf(biometry?.ContentSequence).filter(({ ValueType }) => ValueType === 'NUM');
    const [reference] = itemsOf(itemsOf(num?.ContentSequence)[0]?.ReferencedSOPSequence);
    expect(reference?.ReferencedSOPInstanceUID).toBe(one?.dataSet.SOPInstanceUID);
  });

  it('is the same for a deflated file, which is inflated on the disk', async () => {
    const plain = await image();
    const { meta, dataSetOffset } = decodeFileMeta(plain);
    const deflated = Buffer.concat([
      encodeFileMeta({ ...meta, transferSyntax: DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN }),
      deflateRawSync(plain.subarray(dataSetOffset)),
    ]);
    const [one, other] = [await copyOf(plain), await copyOf(deflated)];
    expect(other.held).toBeNull();
    expect(other.bytes.equals(one.bytes)).toBe(true);
    expect((await readdir(folder)).filter((name) => name.includes('inflated'))).toEqual([]);
  });

  it.skipIf(!existsSync(FULL_DISK))(
    'is not held if the disk is full: the error says so, and the delivery is tried again',
    async () => {
      const source = join(folder, 'cine.dcm');
      await writeFile(source, await image({ frames: 12 }));
      await expect(
        deidentifyObject({
          source,
          target: FULL_DISK,
          settings: SETTINGS,
          secret: SECRET,
          patient: 'the patient',
          signal: new AbortController().signal,
        }),
      ).rejects.toMatchObject({ code: 'ENOSPC' });
    },
  );

  it('cannot be linked by a site that has another secret', async () => {
    const ours = (await copyOf(await image())).dataSet;
    const theirs = (await copyOf(await image(), {}, Buffer.alloc(32, 8))).dataSet;
    expect(theirs.PatientID).not.toBe(ours.PatientID);
    expect(theirs.SOPInstanceUID).not.toBe(ours.SOPInstanceUID);
  });

  it.each([
    { compression: 'jpeg', colour: 'grey', photometric: 'MONOCHROME2' },
    { compression: 'jpeg', colour: 'rgb', photometric: 'RGB' },
  ] as const)(
    'from a compressed cine in $colour is decoded, and blanked in every frame',
    async (form) => {
      const { dataSet } = await copyOf(await image({ frames: 3, encoding: form }));
      expect(dataSet).toMatchObject({
        PhotometricInterpretation: form.photometric,
        LossyImageCompression: '01',
        ImageType: ['DERIVED', 'PRIMARY', 'OBSTETRICAL', '0001'],
      });
      const pixels = pixelsOf(dataSet);
      const samples = Number(dataSet.SamplesPerPixel);
      const row = Number(dataSet.Columns) * samples;
      const frame = row * Number(dataSet.Rows);
      expect(pixels.length).toBe(3 * frame);
      for (const first of [0, frame, 2 * frame]) {
        expect(Math.max(...pixels.subarray(first, first + 30 * row))).toBe(0);
      }
    },
  );
});

describe('a name that appears on the picture only briefly', () => {
  it.each([
    { frames: 2, from: 0, to: 0 },
    { frames: 3, from: 1, to: 1 },
    { frames: 5, from: 4, to: 4 },
  ])('is blanked in all $frames frames', async ({ frames, from, to }) => {
    const named = (frame: number) => frame >= from && frame <= to;
    const { held, dataSet } = await copyOf(await image({ frames, named }));
    expect(held).toBeNull();
    const [columns, rows] = [Number(dataSet.Columns), Number(dataSet.Rows)];
    const name = nameOnPicture({ columns, rows });
    const below = { ...name, y: name.y + from * rows, w: 190, h: 21 };
    expect(brightest(dataSet, below)).toBe(0);
  });
});

describe('the pseudonym of a patient', () => {
  const identity = { PatientID: 'P1', IssuerOfPatientID: '', StudyInstanceUID: '1.2.3' };

  it("is based on the study's patient, whatever an object states", async () => {
    const objects = [
      report(),
      report({ IssuerOfPatientID: 'HOSPITAL' }),
      report({ PatientID: '', PatientName: '' }),
    ];
    const copies = await Promise.all(objects.map((one) => copyOf(one)));
    const [first] = copies;
    for (const { dataSet } of copies) {
      expect([dataSet.PatientID, dataSet.StudyDate]).toEqual([
        first?.dataSet.PatientID,
        first?.dataSet.StudyDate,
      ]);
    }
  });

  it('is based on identifier and issuer, or else on the study', () => {
    const keys = [
      identity,
      { ...identity, IssuerOfPatientID: 'HOSPITAL' },
      { ...identity, PatientID: '' },
      { ...identity, PatientID: ' ', StudyInstanceUID: '1.2.4' },
    ].map(patientKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(patientKey({ ...identity, StudyInstanceUID: '1.2.4' })).toBe(keys[0]);
  });
});

describe('an object that cannot be de-identified with certainty', () => {
  it('is held if nothing shows where the ultrasound is on its screen', async () => {
    const { held } = await copyOf(await image({ header: { regions: [] } }));
    expect(held).toBe('its header does not say where on the screen the ultrasound is');
  });

  it('is held if its only region is the whole screen', async () => {
    const { held } = await copyOf(await image({ header: { regions: [WHOLE_SCREEN] } }));
    expect(held).toBe('its header does not say where on the screen the ultrasound is');
  });

  it('is held if its regions together cover the whole screen', async () => {
    const left = { ...WHOLE_SCREEN, RegionLocationMaxX1: 399 };
    const right = { ...WHOLE_SCREEN, RegionLocationMinX0: 400 };
    const { held } = await copyOf(await image({ header: { regions: [left, right] } }));
    expect(held).toBe('its header does not say where on the screen the ultrasound is');
  });

  it.each([
    { ground: 0, ink: 255 },
    { ground: 90, ink: 230 },
    { ground: 240, ink: 10 },
  ])('is held if it is a page of text, with ink $ink on $ground', async (page) => {
    const { held } = await copyOf(await pageOfText(page), { withoutRegions: 'detect' });
    expect(held).toMatch(/as on a page of text|cannot be distinguished/);
  });

  it('is sent if the picture is found by its appearance, and the setting allows it', async () => {
    const { held, bytes, dataSet } = await copyOf(
      await image({ seed: 2, header: { regions: [] } }),
      {
        withoutRegions: 'detect',
      },
    );
    expect(held).toBeNull();
    expect(found(bytes)).toEqual([]);
    expect(brightest(dataSet, { x: 0, y: 0, w: 220, h: 26 })).toBe(0);
    expect(
      brightest(dataSet, { ...nameOnPicture({ columns: 800, rows: 600 }), w: 190, h: 21 }),
    ).toBe(0);
  });

  it('is held if its class is not supported', async () => {
    const pdf = report({ SOPClassUID: '1.2.840.10008.5.1.4.1.1.104.1' });
    expect((await copyOf(pdf)).held).toMatch(/^objects of its class .* are not de-identified$/);
  });

  it('is held if its pixel data are cut short', async () => {
    const object = await image();
    expect((await copyOf(object.subarray(0, object.length - 5000))).held).toMatch(/cut short/);
  });

  it('is held if the items of a report refer to each other by position', async () => {
    const { held } = await copyOf(
      report({
        ContentSequence: [
          { RelationshipType: 'INFERRED FROM', ReferencedContentItemIdentifier: [1, 1] },
        ],
      }),
    );
    expect(held).toBe('its items refer to each other by their position');
  });
});

describe('a de-identified report', () => {
  it('keeps values, codes and shifted dates, but no name of a person and no text', async () => {
    const { dataSet, bytes } = await copyOf(report());
    expect(found(bytes)).toEqual([]);
    expect(dataSet.VerificationFlag).toBe('UNVERIFIED');
    const top = itemsOf(dataSet.ContentSequence);
    expect(top.map(({ ValueType }) => ValueType)).toEqual(['PNAME', 'DATE', 'DATE', 'CONTAINER']);
    const biometry = itemsOf(top[3]?.ContentSequence);
    expect(biometry[0]?.TextValue).toBe('A');
    expect(itemsOf(biometry[1]?.MeasuredValueSequence)[0]?.NumericValue).toBe(5.812);
  });
});

describe('an observer of a report who is a person', () => {
  const observer = (
    ValueType: string,
    [CodeValue, CodeMeaning]: readonly [string, string],
    value: NaturalDataset,
  ) => ({
    RelationshipType: 'HAS OBS CONTEXT',
    ValueType,
    ConceptNameCodeSequence: [{ CodeValue, CodingSchemeDesignator: 'DCM', CodeMeaning }],
    ...value,
  });
  const person = { CodeValue: '121006', CodingSchemeDesignator: 'DCM', CodeMeaning: 'Person' };
  const ContentSequence = [
    observer('CODE', ['121005', 'Observer Type'], { ConceptCodeSequence: [person] }),
    observer('PNAME', ['121008', 'Person Observer Name'], { PersonName: 'Garay^Ane' }),
    observer('TEXT', ['121009', "Person Observer's Organization Name"], {
      TextValue: 'HOSPITAL-OF-MERCY',
    }),
  ];

  it('keeps its type and the name that TID 1003 requires, but as a dummy', async () => {
    const { dataSet, bytes } = await copyOf(report({ ContentSequence }));
    expect(found(bytes)).toEqual([]);
    const [type, name, ...others] = itemsOf(dataSet.ContentSequence);
    expect(itemsOf(type?.ConceptCodeSequence)[0]).toMatchObject(person);
    expect(name).toMatchObject({ ValueType: 'PNAME', PersonName: [{ Alphabetic: 'REMOVED' }] });
    expect(others).toEqual([]);
  });

  it.runIf(DCMTK_INSTALLED)('leaves a document that DCMTK reads', async () => {
    const { paths } = await copyOf(report({ ContentSequence }));
    const { exitCode, output } = await dcmtk('dsrdump', [paths[1]]);
    expect(output).toContain('PNAME:(,,"Person Observer Name")="REMOVED"');
    expect(exitCode).toBe(0);
  });
});

describe("the patient's characteristics in a report", () => {
  const observations = [
    ['121033', 'DCM', 'Subject Age'],
    ['8302-2', 'LN', 'Patient Height'],
    ['60621009', 'SCT', 'Body Mass Index'],
    ['F-01860', 'SRT', 'Body Mass Index'],
    ['111532', 'DCM', 'Pregnancy Status'],
    ['F-008EC', 'SRT', 'Systolic Blood Pressure'],
    ['8277-6', 'LN', 'Body Surface Area'],
  ] as const;
  const kept = async (patientCharacteristics: boolean) => {
    const ContentSequence = observations.map(([value, scheme, meaning]) => ({
      RelationshipType: 'CONTAINS',
      ValueType: 'NUM',
      ConceptNameCodeSequence: [
        { CodeValue: value, CodingSchemeDesignator: scheme, CodeMeaning: meaning },
      ],
      MeasuredValueSequence: [],
    }));
    const { dataSet } = await copyOf(report({ ContentSequence }), { patientCharacteristics });
    return itemsOf(dataSet.ContentSequence).map(
      (item) => itemsOf(item.ConceptNameCodeSequence)[0]?.CodeMeaning,
    );
  };

  it('stay only if the setting keeps them; other measurements always stay', async () => {
    expect(await kept(false)).toEqual(['Systolic Blood Pressure', 'Body Surface Area']);
    expect(await kept(true)).toEqual(observations.map(([, , meaning]) => meaning));
  });
});

describe('the codes of a site', () => {
  const codeOf = async (value: string, scheme: string, meaning = '') => {
    const [code] = [{ CodeValue: value, CodingSchemeDesignator: scheme, CodeMeaning: meaning }];
    const { dataSet } = await copyOf(report({ PerformedProcedureCodeSequence: [code ?? {}] }));
    const [kept] = itemsOf(dataSet.PerformedProcedureCodeSequence);
    return [kept?.CodeValue, kept?.CodeMeaning];
  };

  it('are removed if they contain a name', async () => {
    expect(await codeOf('ALMA ZUBIRI', '99X', 'ALMA')).toEqual(['REMOVED', 'REMOVED']);
  });

  it('are kept if they contain no name, or if their scheme is published', async () => {
    expect(await codeOf('OB2', '99X', 'Dr.')).toEqual(['OB2', 'OB2']);
    expect(await codeOf('ALMA', 'DCM', 'a term')).toEqual(['ALMA', 'a term']);
  });
});

describe('the fetuses of a report', () => {
  const biometry = (label: string) => ({
    RelationshipType: 'CONTAINS',
    ValueType: 'CONTAINER',
    ContentSequence: [
      {
        RelationshipType: 'HAS OBS CONTEXT',
        ValueType: 'TEXT',
        ConceptNameCodeSequence: [
          { CodeValue: '11951-1', CodingSchemeDesignator: 'LN', CodeMeaning: 'Fetus ID' },
        ],
        TextValue: label,
      },
    ],
  });
  const labelsOf = async (...labels: string[]) => {
    const { dataSet } = await copyOf(report({ ContentSequence: labels.map(biometry) }));
    return itemsOf(dataSet.ContentSequence).map(
      ({ ContentSequence }) => itemsOf(ContentSequence)[0]?.TextValue,
    );
  };

  it('keep short labels', async () => {
    expect(await labelsOf('A', 'B', 'A')).toEqual(['A', 'B', 'A']);
  });

  it('are numbered if a label may contain more than a letter', async () => {
    expect(await labelsOf('Fetus ALMA', 'Fetus B', '1', 'Fetus ALMA')).toEqual([
      '1',
      '2',
      '3',
      '1',
    ]);
  });
});

describe.skipIf(!ANONYMIZER_INSTALLED)('the table of another program', () => {
  it('confirms that nothing remains that should have been removed or replaced', async () => {
    const copies = await Promise.all([
      copyOf(await image()),
      copyOf(await image({ frames: 3, encoding: { compression: 'jpeg', colour: 'rgb' } })),
      copyOf(report()),
      copyOf(report(), { dates: 'removed' }),
    ]);
    expect(wrongByAnnexE(copies.map(({ paths }) => paths))).toEqual([[], [], [], []]);
  });

  it('detects what is wrong with an object that was not de-identified', async () => {
    const path = join(folder, 'as-received.dcm');
    await writeFile(path, await image({ sopInstanceUid: IMAGE_UID }));
    expect(wrongByAnnexE([[path, path]])[0]?.length).toBeGreaterThan(10);
  });
});
