import dcmjs, { type NaturalDataset } from 'dcmjs';
import { type ImageHeader, writeUltrasound } from '../../../models/phantom/dicom.ts';
import { type PhantomFrame, simulateFrame } from '../../../models/phantom/frame.ts';
import { drawText, GLYPH } from '../../../models/phantom/overlay.ts';
import { sizesAt } from '../../../models/phantom/sizes.ts';
import { encodePart10 } from '../../../pipelines/dicom/part10.ts';

/**
 * Objects of a fictional patient whose identity occurs in every place where carts and people write
 * it.
 */

const STUDY_UID = '1.2.826.0.1.77310.1';
const SERIES_UID = '1.2.826.0.1.77310.2';
export const IMAGE_UID = '1.2.826.0.1.77310.3.1';
const REPORT_UID = '1.2.826.0.1.77310.4.1';

/** The middle name is a word that also describes a view. */
export const PATIENT = { id: 'MRN-77310', name: 'ZUBIRI^ALMA^LONG' };

/** Values that must not occur in any byte of a copy. */
export const IDENTIFYING = [
  ...['ZUBIRI', 'ALMA', 'MRN-77310', 'HOSPITAL-OF-MERCY', 'STATION-9', 'OPERATOR-X', 'SERIAL-4711'],
  ...['ACC77310', 'VISIT-5', 'Dr. Garay', '77310', 'SECRET-PRIVATE', 'AE-OF-CART'],
  ...['19930405', '20260115', '20250731', '20260507', '+0130'],
] as const;

const study = {
  patientName: PATIENT.name,
  patientId: PATIENT.id,
  patientBirthDate: '19930405',
  patientAge: '032Y',
  patientSizeMetres: 1.683,
  patientWeightKg: 70.25,
  lastMenstrualDate: '20250731',
  studyInstanceUid: STUDY_UID,
  seriesInstanceUid: SERIES_UID,
  studyId: 'VISIT-5',
  studyDate: '20260115',
  studyTime: '101500',
  accessionNumber: 'ACC77310',
  studyDescription: 'OB 2nd trimester ALMA LONG ZUBIRI for Dr. Garay',
};

const people: NaturalDataset = {
  InstitutionName: 'HOSPITAL-OF-MERCY',
  StationName: 'STATION-9',
  OperatorsName: 'OPERATOR-X',
  DeviceSerialNumber: 'SERIAL-4711',
  PerformingPhysicianName: 'Dr. Garay',
  PatientComments: 'ALMA ZUBIRI called',
  ImageComments: 'seen by Dr. Garay',
  OtherPatientIDs: 'MRN-77310-B',
  TimezoneOffsetFromUTC: '+0130',
  SeriesDescription: 'fetal growth ZUBIRI',
  ProcedureCodeSequence: [
    { CodeValue: 'OB2', CodingSchemeDesignator: '99MERCY', CodeMeaning: 'OB scan, Dr. Garay' },
  ],
  ReferencedImageSequence: [
    {
      ReferencedSOPClassUID: '1.2.840.10008.5.1.4.1.1.6.1',
      ReferencedSOPInstanceUID: `${IMAGE_UID}.9`,
    },
  ],
  RequestAttributesSequence: [{ RequestedProcedureDescription: 'ALMA ZUBIRI' }],
};

/** Position of the ultrasound on the screen: below the line with the name and next to the ruler. */
const REGION: NaturalDataset = {
  RegionSpatialFormat: 1,
  RegionDataType: 1,
  RegionFlags: 0,
  RegionLocationMinX0: 40,
  RegionLocationMinY0: 30,
  RegionLocationMaxX1: 759,
  RegionLocationMaxY1: 599,
  PhysicalUnitsXDirection: 3,
  PhysicalUnitsYDirection: 3,
  PhysicalDeltaX: 0.0128,
  PhysicalDeltaY: 0.0128,
};

/** The same region, but covering the whole screen. */
export const WHOLE_SCREEN: NaturalDataset = {
  ...REGION,
  RegionLocationMinX0: 0,
  RegionLocationMinY0: 0,
  RegionLocationMaxX1: 799,
};

const TEXT = 'ZUBIRI ALMA';
const TEXT_SIZE = 3;

function write(frame: PhantomFrame, text: string, at: { x: number; y: number }, ink: number) {
  drawText(text, (column, row) => {
    const x = at.x + column * TEXT_SIZE;
    for (let y = at.y + row * TEXT_SIZE; y < at.y + (row + 1) * TEXT_SIZE; y += 1) {
      frame.gray.fill(ink, y * frame.columns + x, y * frame.columns + x + TEXT_SIZE);
    }
  });
}

/** Frames drawn so far, by seed, because drawing a frame takes longer than de-identifying it. */
const drawn = new Map<number, PhantomFrame>();

/**
 * Returns two screens: one with the name both above the sector and on it, and one with the name
 * only above it.
 */
function screens(seed: number): [onPicture: PhantomFrame, above: PhantomFrame] {
  const made =
    drawn.get(seed) ?? simulateFrame({ plane: 'transthalamic', sizes: sizesAt(168), seed });
  drawn.set(seed, made);
  const above = { ...made, gray: Uint8Array.from(made.gray) };
  write(above, TEXT, { x: 20, y: 4 }, 255);
  const frame = { ...above, gray: Uint8Array.from(above.gray) };
  write(frame, TEXT, nameOnPicture(frame), 255);
  return [frame, above];
}

/** Draws a page of a report as a screen capture: rows of text, with lines across the page. */
export function pageOfText({ ground, ink }: { ground: number; ink: number }): Promise<Buffer> {
  const [made] = screens(11);
  const frame = { ...made, gray: new Uint8Array(made.gray.length).fill(ground) };
  for (let y = 20; y < frame.rows - 40; y += 24)
    write(frame, `${TEXT} BPD 58.1`, { x: 40, y }, ink);
  for (let y = 10; y < frame.rows; y += 36) {
    frame.gray.fill(ink, y * frame.columns + 20, (y + 1) * frame.columns - 20);
  }
  return writeUltrasound([frame], study, {
    sopInstanceUid: IMAGE_UID,
    instanceNumber: 1,
    encoding: { compression: 'native', colour: 'grey' },
    regions: [],
  });
}

/** Returns the position of the name on the picture. */
export function nameOnPicture({ columns, rows }: Pick<PhantomFrame, 'columns' | 'rows'>) {
  const width = TEXT.length * GLYPH.advance * TEXT_SIZE;
  return { x: Math.round((columns - width) / 2), y: Math.round(0.55 * rows) };
}

/** Creates an image or a cine with names in its header, in a private group and in its pixels. */
export async function image({
  encoding = { compression: 'native', colour: 'grey' },
  frames = 1,
  sopInstanceUid = IMAGE_UID,
  header = {},
  seed = 11,
  named = () => true,
}: {
  encoding?: ImageHeader['encoding'];
  frames?: number;
  sopInstanceUid?: string;
  header?: Partial<ImageHeader>;
  /** The seed determines where the sector is on the screen. */
  seed?: number;
  /** Returns true if the name is on the picture in a frame, counted from 0. */
  named?: (frame: number) => boolean;
} = {}): Promise<Buffer> {
  const [one, other] = screens(seed);
  const bytes = await writeUltrasound(
    Array.from({ length: frames }, (_, frame) => (named(frame) ? one : other)),
    study,
    {
      sopInstanceUid,
      instanceNumber: 1,
      encoding,
      regions: [REGION],
      attributes: people,
      ...header,
    },
  );
  const file = dcmjs.data.DicomMessage.readFile(Uint8Array.from(bytes).buffer);
  file.dict['00090010'] = { vr: 'LO', Value: ['SECRET-PRIVATE'] };
  file.dict['00091001'] = { vr: 'LO', Value: ['ZUBIRI'] };
  file.meta['00020016'] = { vr: 'AE', Value: ['AE-OF-CART'] };
  const written = Buffer.from(file.write({ fragmentMultiframe: false }));
  // The preamble may contain anything (PS3.10 7.1).
  written.write('ZUBIRI', 0, 'latin1');
  return written;
}

const code = (value: string, scheme: string, meaning: string) => [
  { CodeValue: value, CodingSchemeDesignator: scheme, CodeMeaning: meaning },
];
const item = (type: string, name: NaturalDataset[], value: NaturalDataset): NaturalDataset => ({
  RelationshipType: 'CONTAINS',
  ValueType: type,
  ConceptNameCodeSequence: name,
  ...value,
});

/** Creates a report as a cart writes it (TID 5000), with people, dates and free text. */
export function report(changes: NaturalDataset = {}): Buffer {
  const image = {
    ReferencedSOPClassUID: '1.2.840.10008.5.1.4.1.1.6.1',
    ReferencedSOPInstanceUID: IMAGE_UID,
  };
  return encodePart10({
    SpecificCharacterSet: 'ISO_IR 192',
    SOPClassUID: '1.2.840.10008.5.1.4.1.1.88.33',
    SOPInstanceUID: REPORT_UID,
    StudyInstanceUID: STUDY_UID,
    SeriesInstanceUID: `${SERIES_UID}.1`,
    PatientName: PATIENT.name,
    PatientID: PATIENT.id,
    PatientBirthDate: '19930405',
    PatientSex: 'F',
    StudyDate: '20260115',
    StudyTime: '101500',
    StudyID: 'VISIT-5',
    AccessionNumber: 'ACC77310',
    ReferringPhysicianName: 'Dr. Garay',
    Manufacturer: 'ACME',
    Modality: 'SR',
    SeriesNumber: '2',
    InstanceNumber: '1',
    ContentDate: '20260115',
    ContentTime: '102000',
    CompletionFlag: 'COMPLETE',
    VerificationFlag: 'VERIFIED',
    VerifyingObserverSequence: [
      {
        VerifyingObserverName: 'Dr. Garay',
        VerifyingOrganization: 'HOSPITAL-OF-MERCY',
        VerificationDateTime: '20260115102000',
        VerifyingObserverIdentificationCodeSequence: [],
      },
    ],
    ReferencedPerformedProcedureStepSequence: [],
    PerformedProcedureCodeSequence: [],
    CurrentRequestedProcedureEvidenceSequence: [
      {
        StudyInstanceUID: STUDY_UID,
        ReferencedSeriesSequence: [
          { SeriesInstanceUID: SERIES_UID, ReferencedSOPSequence: [image] },
        ],
      },
    ],
    ValueType: 'CONTAINER',
    ConceptNameCodeSequence: code('125000', 'DCM', 'OB-GYN Ultrasound Procedure Report'),
    ContinuityOfContent: 'SEPARATE',
    ContentTemplateSequence: [{ MappingResource: 'DCMR', TemplateIdentifier: '5000' }],
    ContentSequence: [
      item('PNAME', code('121008', 'DCM', 'Person Observer Name'), { PersonName: 'Dr. Garay' }),
      item('TEXT', code('121106', 'DCM', 'Comment'), { TextValue: 'ALMA ZUBIRI, call Dr. Garay' }),
      item('DATE', code('11955-2', 'LN', 'LMP'), { Date: '20250731' }),
      item('DATE', code('11778-8', 'LN', 'EDD'), { Date: '20260507' }),
      item('DATE', code('121031', 'DCM', 'Subject Birth Date'), { Date: '19930405' }),
      item('CONTAINER', code('125002', 'DCM', 'Fetal Biometry'), {
        ContinuityOfContent: 'SEPARATE',
        ContentSequence: [
          item('TEXT', code('11951-1', 'LN', 'Fetus ID'), { TextValue: 'A' }),
          item('NUM', code('11820-8', 'LN', 'Biparietal Diameter'), {
            MeasuredValueSequence: [
              {
                NumericValue: '5.812',
                MeasurementUnitsCodeSequence: code('cm', 'UCUM', 'centimeter'),
              },
            ],
            ContentSequence: [
              {
                RelationshipType: 'INFERRED FROM',
                ValueType: 'IMAGE',
                ReferencedSOPSequence: [image],
              },
            ],
          }),
        ],
      }),
    ],
    ...changes,
  });
}
