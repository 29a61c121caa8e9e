import { randomUUID } from 'node:crypto';
import type { Destination } from '../../../../config/schema.ts';
import type { JsonDataSet } from '../../../../pipelines/dicom/dicom-json.ts';
import { isUid } from '../../../../pipelines/dicom/uid.ts';
import type { Endpoint } from '../../../core/requests/endpoint.ts';
import type { Priority } from '../../../core/requests/request.ts';
import type { NewWorkitem } from '../../../core/workitems/create.ts';
import { dateTimeRange } from '../../../core/workitems/find.ts';
import { CODING_SCHEME, workitemCode } from '../../../core/workitems/workitem.ts';
import { hasValue, itemsOf, only, refuse, TAG, textOf } from './data-set.ts';

/** Attributes that describe a scheduled step and can be changed until it begins. */
const CHANGEABLE = [
  TAG.ProcedureStepLabel,
  TAG.WorklistLabel,
  TAG.CommentsOnTheScheduledProcedureStep,
  TAG.ScheduledProcedureStepStartDateTime,
  TAG.ExpectedCompletionDateTime,
  TAG.ScheduledProcedureStepExpirationDateTime,
  TAG.ScheduledStationNameCodeSequence,
  TAG.ScheduledStationClassCodeSequence,
  TAG.ScheduledStationGeographicLocationCodeSequence,
  TAG.ScheduledHumanPerformersSequence,
] as const;

/**
 * Attributes that are stored as the creator sent them. Others, except those in `READ`, are omitted
 * with a warning.
 */
const KEPT: readonly string[] = [
  ...CHANGEABLE,
  TAG.AdmittingDiagnosesDescription,
  TAG.AdmittingDiagnosesCodeSequence,
  TAG.PatientName,
  TAG.PatientID,
  TAG.IssuerOfPatientID,
  TAG.IssuerOfPatientIDQualifiersSequence,
  TAG.PatientBirthDate,
  TAG.PatientSex,
  TAG.OtherPatientIDsSequence,
  TAG.StudyInstanceUID,
  TAG.AdmissionID,
  TAG.IssuerOfAdmissionIDSequence,
  TAG.InputInformationSequence,
  TAG.OutputDestinationSequence,
  TAG.ReferencedRequestSequence,
  TAG.ReplacedProcedureStepSequence,
];

/**
 * Attributes of a create request that are read but not stored, because the gateway derives them
 * from its own request.
 */
const READ: readonly string[] = [
  TAG.SpecificCharacterSet,
  TAG.SOPClassUID,
  TAG.SOPInstanceUID,
  TAG.TransactionUID,
  TAG.ScheduledProcedureStepPriority,
  TAG.ScheduledWorkitemCodeSequence,
  TAG.InputReadinessState,
  TAG.ProcedureStepState,
  TAG.ScheduledProcedureStepModificationDateTime,
  TAG.ScheduledProcessingParametersSequence,
  TAG.ProcedureStepProgressInformationSequence,
  TAG.UnifiedProcedureStepPerformedProcedureSequence,
];

/** Attributes that must be empty in a create request (PS3.4 table CC.2.5-3). */
const EMPTY = [
  [TAG.TransactionUID, 'the Transaction UID is assigned by the performer'],
  [TAG.ProcedureStepProgressInformationSequence, 'a new step cannot have progress information'],
  [
    TAG.UnifiedProcedureStepPerformedProcedureSequence,
    'a new step cannot have performed procedure information',
  ],
  [TAG.ScheduledProcessingParametersSequence, 'processing parameters are not supported'],
] as const;

const PRIORITY: Readonly<Record<string, Priority>> = { HIGH: 'high', MEDIUM: 'normal', LOW: 'low' };

/**
 * Reads the data set of a create request (PS3.4 table CC.2.5-3, column N-CREATE). An absent
 * attribute of type 2 counts as empty.
 * @param uid the UID in the query. If it is null, the UID in the data set is used; if there is none
 * either, a UID is generated.
 * @throws InvalidInputError `invalid_workitem`
 */
export function readCreation(
  dataSet: JsonDataSet,
  uid: string | null,
  {
    endpoints,
    destinations,
  }: { endpoints: readonly Endpoint[]; destinations: readonly Destination[] },
): { workitem: NewWorkitem; modified: boolean } {
  const at = (tag: string) => `/${tag}`;
  const required = (tag: string, allowed: readonly string[]) => {
    const value = textOf(dataSet, tag);
    if (!allowed.includes(value)) refuse(at(tag), `one of ${allowed.join(', ')}`);
    return value;
  };
  for (const [tag, why] of EMPTY) if (hasValue(dataSet, tag)) refuse(at(tag), why);
  required(TAG.ProcedureStepState, ['SCHEDULED']);
  const priority = PRIORITY[required(TAG.ScheduledProcedureStepPriority, Object.keys(PRIORITY))];
  if (textOf(dataSet, TAG.ProcedureStepLabel) === '') refuse(at(TAG.ProcedureStepLabel), 'a label');
  if (required(TAG.InputReadinessState, ['READY', 'INCOMPLETE', 'UNAVAILABLE']) !== 'READY') {
    refuse(at(TAG.InputReadinessState), 'the step starts immediately, so its input must be READY');
  }
  const { study, objects } = inputOf(dataSet);
  const named = textOf(dataSet, TAG.StudyInstanceUID);
  if (named !== '' && named !== study)
    refuse(at(TAG.StudyInstanceUID), 'must be the study of the input');
  return {
    workitem: {
      uid: uidOf(dataSet, uid),
      endpoint: endpointOf(dataSet, endpoints),
      priority: priority ?? 'normal',
      study,
      objects,
      patient: {
        id: textOf(dataSet, TAG.PatientID),
        issuer: textOf(dataSet, TAG.IssuerOfPatientID),
        birthDate: textOf(dataSet, TAG.PatientBirthDate),
      },
      deliverTo: destinationsOf(dataSet, destinations),
      attributes: only(dataSet, KEPT),
      startAt: startOf(dataSet),
    },
    modified: Object.keys(dataSet).some((tag) => !KEPT.includes(tag) && !READ.includes(tag)),
  };
}

/**
 * Returns the UID of a new workitem: the one in the query or in the data set, or otherwise a newly
 * generated one.
 */
function uidOf(dataSet: JsonDataSet, asked: string | null): string {
  const stated = textOf(dataSet, TAG.SOPInstanceUID);
  const uid = asked ?? stated;
  if (uid === '') return `2.25.${BigInt(`0x${randomUUID().replaceAll('-', '')}`)}`;
  if (!isUid(uid)) refuse(`/${TAG.SOPInstanceUID}`, 'not a UID');
  if (stated !== '' && stated !== uid)
    refuse(`/${TAG.SOPInstanceUID}`, 'must be the UID in the call');
  return uid;
}

function endpointOf(dataSet: JsonDataSet, endpoints: readonly Endpoint[]): string {
  const [code, further] = itemsOf(dataSet, TAG.ScheduledWorkitemCodeSequence);
  const asked =
    code && !further && textOf(code, TAG.CodingSchemeDesignator) === CODING_SCHEME
      ? textOf(code, TAG.CodeValue)
      : null;
  const found = endpoints.find((endpoint) => workitemCode(endpoint) === asked);
  if (found) return found.id;
  const known = [...new Set(endpoints.map(workitemCode))].join(', ');
  return refuse(`/${TAG.ScheduledWorkitemCodeSequence}`, `one code of ${CODING_SCHEME}: ${known}`);
}

/** Returns the objects that the step is to read. They must belong to one study. */
function inputOf(dataSet: JsonDataSet): { study: string; objects: string[] } {
  const place = `/${TAG.InputInformationSequence}`;
  const items = itemsOf(dataSet, TAG.InputInformationSequence);
  const [study, ...others] = new Set(items.map((item) => textOf(item, TAG.StudyInstanceUID)));
  if (study === undefined || !isUid(study) || others.length > 0) {
    return refuse(place, 'references to objects of one study');
  }
  const objects = items.flatMap((item) =>
    itemsOf(item, TAG.ReferencedSOPSequence).map((sop) =>
      textOf(sop, TAG.ReferencedSOPInstanceUID),
    ),
  );
  if (objects.length === 0 || !objects.every(isUid)) {
    return refuse(place, 'references to objects, in the Referenced SOP Sequence (0008,1199)');
  }
  return { study, objects };
}

function startOf(dataSet: JsonDataSet): Date {
  const start = dateTimeRange(textOf(dataSet, TAG.ScheduledProcedureStepStartDateTime));
  return start?.first ?? refuse(`/${TAG.ScheduledProcedureStepStartDateTime}`, 'a date and time');
}

/**
 * Returns the names of the configured destinations that the creator requests by AE title or by
 * store address; null if the creator requests none.
 */
function destinationsOf(
  dataSet: JsonDataSet,
  destinations: readonly Destination[],
): string[] | null {
  const asked = itemsOf(dataSet, TAG.OutputDestinationSequence);
  if (asked.length === 0) return null;
  const plain = (address: string) => address.replace(/\/+$/, '').replace(/\/studies$/, '');
  const aeTitles = asked
    .flatMap((item) => itemsOf(item, TAG.DicomStorageSequence))
    .map((item) => textOf(item, TAG.DestinationAE));
  const urls = asked
    .flatMap((item) => itemsOf(item, TAG.StowRsStorageSequence))
    .map((item) => plain(textOf(item, TAG.StorageURL)));
  const named = [
    ...aeTitles.map((ae) =>
      destinations.find((one) => one.type === 'dicom' && one.aeTitle === ae && !isCopy(one)),
    ),
    ...urls.map((url) =>
      destinations.find(
        (one) => one.type === 'dicomweb' && plain(one.baseUrl) === url && !isCopy(one),
      ),
    ),
  ];
  const names = named.flatMap((one) => one?.name ?? []);
  if (names.length === named.length && names.length > 0) return [...new Set(names)];
  return refuse(`/${TAG.OutputDestinationSequence}`, 'configured destinations only');
}

/** True if a destination receives only de-identified copies. */
const isCopy = (destination: Destination): boolean =>
  'deidentification' in destination && destination.deidentification !== undefined;

/** Attributes of an update that are accepted but have no effect. */
const NOT_CHANGED: readonly string[] = [
  TAG.SpecificCharacterSet,
  TAG.SOPClassUID,
  TAG.SOPInstanceUID,
];

/**
 * Attributes that must not be changed: the standard forbids it (PS3.4 table CC.2.5-3), or the
 * change would turn the step into a different one.
 */
const FORBIDDEN = [
  TAG.TransactionUID,
  TAG.ProcedureStepState,
  TAG.StudyInstanceUID,
  TAG.PatientName,
  TAG.PatientID,
  TAG.InputInformationSequence,
  TAG.ScheduledWorkitemCodeSequence,
  TAG.OutputDestinationSequence,
] as const;

/**
 * Reads the data set of an update (PS3.4 table CC.2.5-3, column N-SET).
 * @returns the changes; `ignored` is true if the data set also contains attributes that cannot be
 * changed.
 * @throws InvalidInputError `invalid_workitem`
 */
export function readUpdate(dataSet: JsonDataSet): {
  attributes: JsonDataSet;
  startAt: Date | null;
  ignored: boolean;
} {
  for (const tag of FORBIDDEN) {
    if (dataSet[tag])
      refuse(`/${tag}`, 'cannot be changed; cancel the workitem and create another');
  }
  const attributes = only(dataSet, CHANGEABLE);
  if (attributes[TAG.ProcedureStepLabel] && textOf(dataSet, TAG.ProcedureStepLabel) === '') {
    refuse(`/${TAG.ProcedureStepLabel}`, 'a label');
  }
  const known: readonly string[] = [...CHANGEABLE, ...NOT_CHANGED];
  return {
    attributes,
    startAt: attributes[TAG.ScheduledProcedureStepStartDateTime] ? startOf(dataSet) : null,
    ignored: Object.keys(dataSet).some((tag) => !known.includes(tag)),
  };
}
