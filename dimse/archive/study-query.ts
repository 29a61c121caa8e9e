import type { NaturalDataset } from 'dcmjs';
import { attributeText } from '../header.ts';
import type { FoundObject, FoundStudy, StudyKeys } from './archive.ts';
import type { QueryAssociation } from './query.ts';

/** Attributes that are asked for at STUDY level; optional ones may stay without a value. */
const STUDY_RETURN_KEYS = [
  'StudyInstanceUID',
  'StudyDate',
  'StudyTime',
  'StudyDescription',
  'ModalitiesInStudy',
  'NumberOfStudyRelatedInstances',
  'AccessionNumber',
  'PatientID',
  'IssuerOfPatientID',
  'PatientBirthDate',
  'PatientSex',
] as const;

const KEYWORDS: Readonly<Record<keyof StudyKeys, string>> = {
  patientId: 'PatientID',
  issuerOfPatientId: 'IssuerOfPatientID',
  studyInstanceUid: 'StudyInstanceUID',
  accessionNumber: 'AccessionNumber',
  studyDate: 'StudyDate',
  modality: 'ModalitiesInStudy',
};

/** Matching keys by keyword, those that are given. */
export function matchingKeys(keys: StudyKeys): Record<string, string> {
  return Object.fromEntries(
    Object.entries(KEYWORDS).flatMap(([key, keyword]) => {
      const value = keys[key as keyof StudyKeys];
      return value === undefined || value === '' ? [] : [[keyword, value]];
    }),
  );
}

/** A match of a STUDY query; null when it has no Study Instance UID. */
export function foundStudy(match: NaturalDataset): FoundStudy | null {
  const text = (keyword: string) => attributeText(match[keyword]);
  const studyInstanceUid = text('StudyInstanceUID');
  if (studyInstanceUid === '') return null;
  const objects = Number(text('NumberOfStudyRelatedInstances') || Number.NaN);
  return {
    studyInstanceUid,
    studyDate: text('StudyDate').replaceAll('.', ''),
    description: text('StudyDescription'),
    modalities: text('ModalitiesInStudy').split('\\').filter(Boolean),
    objects: Number.isInteger(objects) ? objects : null,
    patientId: text('PatientID'),
    issuerOfPatientId: text('IssuerOfPatientID'),
    birthDate: text('PatientBirthDate').replaceAll('.', ''),
    sex: text('PatientSex'),
  };
}

export async function findStudies(
  query: QueryAssociation,
  keys: StudyKeys,
  limit: number,
): Promise<FoundStudy[]> {
  const returned = Object.fromEntries(STUDY_RETURN_KEYS.map((keyword) => [keyword, '']));
  const matches = await query.find(
    { level: 'STUDY', keys: { ...returned, ...matchingKeys(keys) } },
    limit,
  );
  return matches.flatMap((match) => foundStudy(match) ?? []);
}

/** Series by series: every archive knows the hierarchical search, few the relational one. */
export async function findObjects(
  query: QueryAssociation,
  studyInstanceUid: string,
): Promise<FoundObject[]> {
  const series = await query.find({
    level: 'SERIES',
    keys: { StudyInstanceUID: studyInstanceUid, SeriesInstanceUID: '', Modality: '' },
  });
  const objects: FoundObject[] = [];
  for (const one of series) {
    const seriesInstanceUid = attributeText(one.SeriesInstanceUID);
    if (seriesInstanceUid === '') continue;
    const images = await query.find({
      level: 'IMAGE',
      keys: {
        StudyInstanceUID: studyInstanceUid,
        SeriesInstanceUID: seriesInstanceUid,
        SOPInstanceUID: '',
        SOPClassUID: '',
      },
    });
    for (const image of images) {
      objects.push({
        seriesInstanceUid,
        sopInstanceUid: attributeText(image.SOPInstanceUID),
        sopClassUid: attributeText(image.SOPClassUID),
        modality: attributeText(one.Modality),
      });
    }
  }
  return objects.filter(({ sopInstanceUid }) => sopInstanceUid !== '');
}
