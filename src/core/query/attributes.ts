import type { QueryAttribute } from '../studies/instance-header.ts';

/**
 * The attributes of the Study Root information model (PS3.4 C.6.2, PS3.18 10.6.3) that this gateway
 * returns, each with its SQL expression. `s` is the row of the study, `i` that of an object, `c`
 * the counts.
 */

/** Levels of the Study Root model. The patient is part of each study. */
export const LEVELS = ['STUDY', 'SERIES', 'IMAGE'] as const;
export type Level = (typeof LEVELS)[number];

export interface QueriedAttribute {
  level: Level;
  /** Tag as eight hexadecimal digits, such as `00100020`. */
  tag: string;
  vr: string;
  /** SQL expression for the value as text; with `several`, for an array of text. */
  sql: string;
  several?: boolean;
  /** SQL expression for the value at lower levels, if it can be matched there (QIDO-RS). */
  below?: string;
  /** False if the attribute is returned but cannot be used as a matching key. */
  matched?: boolean;
}

const identity = (name: string) => `s.identity ->> '${name}'`;
const header = (name: string) => `i.header ->> '${name}'`;
const further = (name: QueryAttribute) => `i.header -> 'query' ->> '${name}'`;

const study = (tag: string, vr: string, sql: string): QueriedAttribute => ({
  level: 'STUDY',
  tag,
  vr,
  sql,
});
const series = (tag: string, vr: string, sql: string): QueriedAttribute => ({
  level: 'SERIES',
  tag,
  vr,
  sql,
});
const image = (tag: string, vr: string, sql: string): QueriedAttribute => ({
  level: 'IMAGE',
  tag,
  vr,
  sql,
});

/** The attributes by keyword, in the order of the levels. */
export const ATTRIBUTES = {
  StudyDate: study('00080020', 'DA', identity('StudyDate')),
  StudyTime: study('00080030', 'TM', identity('StudyTime')),
  AccessionNumber: study('00080050', 'SH', identity('AccessionNumber')),
  ModalitiesInStudy: {
    ...study('00080061', 'CS', 'c.modalities'),
    several: true,
    below: "(SELECT array_agg(m.header ->> 'modality') FROM instances m WHERE m.study_id = s.id)",
  },
  SOPClassesInStudy: { ...study('00080062', 'UI', 'c.classes'), several: true },
  ReferringPhysicianName: study('00080090', 'PN', identity('ReferringPhysicianName')),
  StudyDescription: study('00081030', 'LO', identity('StudyDescription')),
  PatientName: study('00100010', 'PN', identity('PatientName')),
  PatientID: study('00100020', 'LO', identity('PatientID')),
  IssuerOfPatientID: study('00100021', 'LO', identity('IssuerOfPatientID')),
  PatientBirthDate: study('00100030', 'DA', identity('PatientBirthDate')),
  PatientSex: study('00100040', 'CS', identity('PatientSex')),
  StudyInstanceUID: study('0020000D', 'UI', 's.study_instance_uid'),
  StudyID: study('00200010', 'SH', identity('StudyID')),
  NumberOfStudyRelatedSeries: { ...study('00201206', 'IS', 'c.series'), matched: false },
  NumberOfStudyRelatedInstances: { ...study('00201208', 'IS', 'c.objects'), matched: false },

  SeriesDate: series('00080021', 'DA', further('SeriesDate')),
  SeriesTime: series('00080031', 'TM', further('SeriesTime')),
  Modality: series('00080060', 'CS', header('modality')),
  SeriesDescription: series('0008103E', 'LO', further('SeriesDescription')),
  BodyPartExamined: series('00180015', 'CS', further('BodyPartExamined')),
  SeriesInstanceUID: series('0020000E', 'UI', header('seriesInstanceUid')),
  SeriesNumber: series('00200011', 'IS', further('SeriesNumber')),
  NumberOfSeriesRelatedInstances: { ...series('00201209', 'IS', 'c.objects'), matched: false },
  PerformedProcedureStepStartDate: series(
    '00400244',
    'DA',
    further('PerformedProcedureStepStartDate'),
  ),
  PerformedProcedureStepStartTime: series(
    '00400245',
    'TM',
    further('PerformedProcedureStepStartTime'),
  ),

  SOPClassUID: image('00080016', 'UI', header('sopClassUid')),
  SOPInstanceUID: image('00080018', 'UI', 'i.sop_instance_uid'),
  ContentDate: image('00080023', 'DA', further('ContentDate')),
  ContentTime: image('00080033', 'TM', further('ContentTime')),
  InstanceNumber: image('00200013', 'IS', further('InstanceNumber')),
  NumberOfFrames: image(
    '00280008',
    'IS',
    `CASE WHEN ${header('rows')} <> '0' THEN ${header('numberOfFrames')} END`,
  ),
  Rows: image('00280010', 'US', `nullif(${header('rows')}, '0')`),
  Columns: image('00280011', 'US', `nullif(${header('columns')}, '0')`),
  BitsAllocated: image('00280100', 'US', further('BitsAllocated')),
} as const satisfies Record<string, QueriedAttribute>;

export type Keyword = keyof typeof ATTRIBUTES;
export const KEYWORDS = Object.keys(ATTRIBUTES) as Keyword[];

/** Returns an attribute, typed so that its optional members can be read. */
export const attributeOf = (keyword: Keyword): QueriedAttribute => ATTRIBUTES[keyword];

const BY_TAG = new Map(KEYWORDS.map((keyword) => [ATTRIBUTES[keyword].tag, keyword]));

/**
 * Returns the attribute for a keyword (`PatientID`) or tag (`00100020`); null if it is not
 * supported.
 */
export function keywordOf(name: string): Keyword | null {
  if (Object.hasOwn(ATTRIBUTES, name)) return name as Keyword;
  return BY_TAG.get(name.toUpperCase()) ?? null;
}

/**
 * Returns true if responses at a level contain an attribute. They contain the attributes of that
 * level and of the levels above.
 */
export const isAnsweredAt = (keyword: Keyword, level: Level): boolean =>
  LEVELS.indexOf(ATTRIBUTES[keyword].level) <= LEVELS.indexOf(level);
