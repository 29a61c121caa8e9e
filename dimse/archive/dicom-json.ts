import { attributeText } from '../header.ts';

/** One data set of the DICOM JSON Model (PS3.18 F.2): tag → value representation and values. */
export type DicomJson = Readonly<Record<string, { vr?: string; Value?: unknown[] }>>;

/** Tags by keyword, those that queries ask for (PS3.6). */
export const TAGS = {
  StudyDate: '00080020',
  StudyDescription: '00081030',
  SOPClassUID: '00080016',
  SOPInstanceUID: '00080018',
  AccessionNumber: '00080050',
  Modality: '00080060',
  ModalitiesInStudy: '00080061',
  PatientID: '00100020',
  IssuerOfPatientID: '00100021',
  PatientBirthDate: '00100030',
  PatientSex: '00100040',
  StudyInstanceUID: '0020000D',
  SeriesInstanceUID: '0020000E',
  NumberOfStudyRelatedInstances: '00201208',
} as const;

/** The data set by keywords, as a C-FIND gives it; what is not asked for is left out. */
export function naturalized(dataSet: DicomJson): Record<string, string> {
  return Object.fromEntries(
    Object.entries(TAGS).map(([keyword, tag]) => [
      keyword,
      attributeText(dataSet[tag]?.Value ?? []),
    ]),
  );
}

/** @returns null when it is no list of data sets. */
export function readDicomJson(text: string): DicomJson[] | null {
  try {
    const read: unknown = JSON.parse(text);
    if (!Array.isArray(read)) return null;
    return read.filter((one): one is DicomJson => typeof one === 'object' && one !== null);
  } catch {
    return null;
  }
}
