import type { JsonAttribute, JsonDataSet } from '../../../../pipelines/dicom/dicom-json.ts';
import { InvalidInputError, type PointedError } from '../../../platform/errors/problem.ts';

/**
 * Data sets in the DICOM JSON model (PS3.18 F): parses the data sets that clients send, and reads
 * and writes attributes.
 */

/** Tags of the UPS IOD (PS3.3 C.30) that the gateway reads or writes. */
export const TAG = {
  SpecificCharacterSet: '00080005',
  SOPClassUID: '00080016',
  SOPInstanceUID: '00080018',
  RetrieveAETitle: '00080054',
  AdmittingDiagnosesDescription: '00081080',
  AdmittingDiagnosesCodeSequence: '00081084',
  CodeValue: '00080100',
  CodingSchemeDesignator: '00080102',
  CodeMeaning: '00080104',
  ReferencedSOPClassUID: '00081150',
  ReferencedSOPInstanceUID: '00081155',
  RetrieveURL: '00081190',
  TransactionUID: '00081195',
  ReferencedSOPSequence: '00081199',
  PatientName: '00100010',
  PatientID: '00100020',
  IssuerOfPatientID: '00100021',
  IssuerOfPatientIDQualifiersSequence: '00100024',
  PatientBirthDate: '00100030',
  PatientSex: '00100040',
  OtherPatientIDsSequence: '00101002',
  StudyInstanceUID: '0020000D',
  SeriesInstanceUID: '0020000E',
  AdmissionID: '00380010',
  IssuerOfAdmissionIDSequence: '00380014',
  CommentsOnTheScheduledProcedureStep: '00400400',
  ScheduledProcedureStepStartDateTime: '00404005',
  ScheduledProcedureStepExpirationDateTime: '00404008',
  ScheduledProcedureStepModificationDateTime: '00404010',
  ExpectedCompletionDateTime: '00404011',
  ScheduledWorkitemCodeSequence: '00404018',
  PerformedWorkitemCodeSequence: '00404019',
  InputInformationSequence: '00404021',
  ScheduledStationNameCodeSequence: '00404025',
  ScheduledStationClassCodeSequence: '00404026',
  ScheduledStationGeographicLocationCodeSequence: '00404027',
  PerformedStationNameCodeSequence: '00404028',
  OutputInformationSequence: '00404033',
  ScheduledHumanPerformersSequence: '00404034',
  InputReadinessState: '00404041',
  PerformedProcedureStepStartDateTime: '00404050',
  PerformedProcedureStepEndDateTime: '00404051',
  ProcedureStepCancellationDateTime: '00404052',
  OutputDestinationSequence: '00404070',
  DicomStorageSequence: '00404071',
  StowRsStorageSequence: '00404072',
  StorageURL: '00404073',
  ReferencedRequestSequence: '0040A370',
  TypeOfInstances: '0040E020',
  DicomRetrievalSequence: '0040E021',
  WadoRsRetrievalSequence: '0040E025',
  ProcedureStepState: '00741000',
  ProcedureStepProgressInformationSequence: '00741002',
  ProcedureStepProgress: '00741004',
  ProcedureStepProgressDescription: '00741006',
  ContactURI: '0074100A',
  ContactDisplayName: '0074100C',
  ProcedureStepDiscontinuationReasonCodeSequence: '0074100E',
  ScheduledProcedureStepPriority: '00741200',
  WorklistLabel: '00741202',
  ProcedureStepLabel: '00741204',
  ScheduledProcessingParametersSequence: '00741210',
  UnifiedProcedureStepPerformedProcedureSequence: '00741216',
  ReplacedProcedureStepSequence: '00741224',
  RequestingAE: '00741236',
  ReasonForCancellation: '00741238',
  ScpStatus: '00741242',
  SubscriptionListStatus: '00741244',
  UnifiedProcedureStepListStatus: '00741246',
  DestinationAE: '21000140',
} as const;

/**
 * The accepted value representations (PS3.5 6.2): all except the binary ones and SQ, which is read
 * separately.
 */
const TEXTUAL = new Set(
  'AE AS AT CS DA DT IS DS LO LT PN SH ST TM UC UI UR UT FL FD SL SS UL US SV UV'.split(' '),
);

/**
 * Reads the data set in the body of a call: a single object, either bare or as the only element of
 * an array (PS3.18 F.2.1).
 * @throws InvalidInputError `invalid_workitem`
 */
export function readDataSet(body: unknown): JsonDataSet {
  const one = Array.isArray(body) && body.length === 1 ? body[0] : body;
  if (!isObject(one)) refuse('', 'one data set in the DICOM JSON model');
  const errors: PointedError[] = [];
  const dataSet = itemOf(one, '', errors);
  if (errors.length > 0) throw new InvalidInputError(errors.slice(0, 20), 'invalid_workitem');
  return dataSet;
}

export function refuse(pointer: string, detail: string): never {
  throw new InvalidInputError([{ pointer, detail }], 'invalid_workitem');
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function itemOf(
  given: Record<string, unknown>,
  place: string,
  errors: PointedError[],
): JsonDataSet {
  const dataSet: JsonDataSet = {};
  for (const [name, attribute] of Object.entries(given)) {
    const tag = name.toUpperCase();
    const pointer = `${place}/${name.slice(0, 16).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!/^[0-9A-F]{8}$/.test(tag)) {
      errors.push({ pointer, detail: 'not a tag of eight hexadecimal digits' });
    } else {
      const read = attributeOf(attribute, pointer, errors);
      // Group lengths and the length of the data set have no meaning in JSON.
      if (read && !tag.endsWith('0000')) dataSet[tag] = read;
    }
  }
  return dataSet;
}

function attributeOf(
  given: unknown,
  pointer: string,
  errors: PointedError[],
): JsonAttribute | null {
  const wrong = (detail: string) => {
    errors.push({ pointer, detail });
    return null;
  };
  if (!isObject(given) || typeof given.vr !== 'string') return wrong('an attribute with its vr');
  const { vr, Value = [], ...others } = given;
  const other = Object.keys(others)[0];
  if (other !== undefined) return wrong('bulk data is not accepted');
  if (!Array.isArray(Value)) return wrong('Value is not an array');
  if (vr === 'SQ') {
    const items = Value.map((item, n) =>
      isObject(item)
        ? itemOf(item, `${pointer}/Value/${n}`, errors)
        : wrong('an item is not an object'),
    );
    return items.length > 0 ? { vr, Value: items } : { vr };
  }
  if (!TEXTUAL.has(vr)) return wrong('a value representation that is not accepted');
  if (!Value.every((value) => isValue(vr, value)))
    return wrong(`a value that is not allowed for ${vr}`);
  return Value.length > 0 ? { vr, Value } : { vr };
}

const GROUPS = new Set(['Alphabetic', 'Ideographic', 'Phonetic']);

function isValue(vr: string, value: unknown): boolean {
  if (value === null || typeof value === 'string') return vr !== 'PN' || value === null;
  if (vr === 'PN') {
    return (
      isObject(value) &&
      Object.entries(value).every(([name, text]) => GROUPS.has(name) && typeof text === 'string')
    );
  }
  return typeof value === 'number' && Number.isFinite(value);
}

/** Returns the first value of an attribute as text; '' if the attribute has no value. */
export function textOf(dataSet: JsonDataSet, tag: string): string {
  const [value] = dataSet[tag]?.Value ?? [];
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}

export function itemsOf(dataSet: JsonDataSet, tag: string): JsonDataSet[] {
  const attribute = dataSet[tag];
  return attribute?.vr === 'SQ' ? ((attribute.Value ?? []) as JsonDataSet[]) : [];
}

export const hasValue = (dataSet: JsonDataSet, tag: string): boolean =>
  (dataSet[tag]?.Value ?? []).some((value) => value !== null && value !== '');

export const only = (dataSet: JsonDataSet, tags: readonly string[]): JsonDataSet =>
  Object.fromEntries(tags.flatMap((tag) => (dataSet[tag] ? [[tag, dataSet[tag]]] : [])));

export function attribute(vr: string, ...values: unknown[]): JsonAttribute {
  return values.length > 0 ? { vr, Value: values } : { vr };
}

/** Creates an attribute with one text, or an empty attribute for ''. */
export const text = (vr: string, value: string): JsonAttribute =>
  value === '' ? { vr } : { vr, Value: [value] };

/** Formats a time as DT (PS3.5 6.2). */
export const dateTime = (at: Date): JsonAttribute =>
  attribute('DT', `${at.toISOString().replace(/\D/g, '').slice(0, 14)}+0000`);

/** Returns the attributes sorted by tag. */
export const inOrder = (dataSet: JsonDataSet): JsonDataSet =>
  Object.fromEntries(Object.entries(dataSet).sort(([one], [other]) => (one < other ? -1 : 1)));
