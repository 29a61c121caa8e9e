import type { Destination } from '../../../../config/schema.ts';
import { WITHDRAWAL_REASONS } from '../../../../pipelines/contract/withdrawal.ts';
import type { JsonAttribute, JsonDataSet } from '../../../../pipelines/dicom/dicom-json.ts';
import { jsonAttribute } from '../../../../pipelines/dicom/dicom-json.ts';
import { UNIFIED_PROCEDURE_STEP } from '../../../../pipelines/dicom/sop-classes.ts';
import type { DicomIdentity } from '../../../../pipelines/dicom/subject.ts';
import { WORKLIST_LABEL } from '../../../core/workitems/find.ts';
import type { ReferencedSeries } from '../../../core/workitems/references.ts';
import {
  CODING_SCHEME,
  isFinal,
  type WorkitemRow,
  workitemCode,
  workitemUid,
} from '../../../core/workitems/workitem.ts';
import { catalogueEntry } from '../../../platform/errors/catalogue.ts';
import { attribute, dateTime, inOrder, only, TAG, text, textOf } from './data-set.ts';

/** The parts of a workitem that are not in its row. */
interface Surroundings {
  /**
   * Objects that the step read. Empty in lists, which show only the objects that the creator
   * referenced.
   */
  inputs: readonly ReferencedSeries[];
  outputs: readonly ReferencedSeries[];
  destinations: readonly Destination[];
  /** Address of the gateway's WADO-RS; null if it is disabled. */
  retrieveFrom: string | null;
}

const PRIORITY = { high: 'HIGH', normal: 'MEDIUM', low: 'LOW' } as const;

/** Returns a workitem in the DICOM JSON model (PS3.3 C.30, PS3.4 table CC.2.5-3). */
export function workitemJson(row: WorkitemRow, around: Surroundings): JsonDataSet {
  const { attributes, identity } = row;
  const references = around.inputs.map((series) => referenceItem(series, around));
  return inOrder({
    ...EMPTY,
    ...(row.study_instance_uid && { [TAG.StudyInstanceUID]: text('UI', row.study_instance_uid) }),
    [TAG.InputInformationSequence]: attribute('SQ', ...references),
    ...withValues(attributes ?? {}),
    ...(identity && patientOf(identity)),
    [TAG.SpecificCharacterSet]: text('CS', 'ISO_IR 192'),
    [TAG.SOPClassUID]: text('UI', UNIFIED_PROCEDURE_STEP),
    [TAG.SOPInstanceUID]: text('UI', workitemUid(row)),
    [TAG.ScheduledProcedureStepModificationDateTime]: dateTime(row.changed_at ?? row.created_at),
    [TAG.ScheduledProcedureStepStartDateTime]:
      attributes?.[TAG.ScheduledProcedureStepStartDateTime] ?? dateTime(row.created_at),
    [TAG.ScheduledProcedureStepPriority]: text('CS', PRIORITY[row.priority]),
    [TAG.ProcedureStepLabel]: attributes?.[TAG.ProcedureStepLabel] ?? text('LO', row.endpoint),
    [TAG.WorklistLabel]: text('LO', textOf(attributes ?? {}, TAG.WorklistLabel) || WORKLIST_LABEL),
    [TAG.ScheduledWorkitemCodeSequence]: attribute('SQ', codeOf(row)),
    [TAG.InputReadinessState]: text('CS', 'READY'),
    [TAG.ProcedureStepState]: text('CS', row.state),
    [TAG.ProcedureStepProgressInformationSequence]:
      row.state === 'SCHEDULED' ? attribute('SQ') : attribute('SQ', progressItem(row)),
    [TAG.UnifiedProcedureStepPerformedProcedureSequence]:
      row.state === 'SCHEDULED' ? attribute('SQ') : attribute('SQ', performedItem(row, around)),
  });
}

/**
 * Returns the patient of the study, who replaces the patient stated by the creator. A message may
 * have corrected or merged the identity since the workitem was created.
 */
const patientOf = (identity: DicomIdentity): JsonDataSet => ({
  [TAG.PatientName]: jsonAttribute('PN', [identity.PatientName]),
  [TAG.PatientID]: text('LO', identity.PatientID),
  [TAG.IssuerOfPatientID]: text('LO', identity.IssuerOfPatientID),
  [TAG.PatientBirthDate]: text('DA', identity.PatientBirthDate),
  [TAG.PatientSex]: text('CS', identity.PatientSex),
});

/** Attributes of type 2, which must be present even when empty. */
const EMPTY: JsonDataSet = {
  [TAG.PatientName]: { vr: 'PN' },
  [TAG.PatientID]: { vr: 'LO' },
  [TAG.IssuerOfPatientID]: { vr: 'LO' },
  [TAG.PatientBirthDate]: { vr: 'DA' },
  [TAG.PatientSex]: { vr: 'CS' },
  [TAG.AdmittingDiagnosesDescription]: { vr: 'LO' },
  [TAG.AdmittingDiagnosesCodeSequence]: { vr: 'SQ' },
  [TAG.AdmissionID]: { vr: 'LO' },
  [TAG.IssuerOfAdmissionIDSequence]: { vr: 'SQ' },
  [TAG.ReferencedRequestSequence]: { vr: 'SQ' },
  [TAG.CommentsOnTheScheduledProcedureStep]: { vr: 'LT' },
  [TAG.ScheduledStationNameCodeSequence]: { vr: 'SQ' },
  [TAG.ScheduledStationClassCodeSequence]: { vr: 'SQ' },
  [TAG.ScheduledStationGeographicLocationCodeSequence]: { vr: 'SQ' },
  [TAG.ScheduledProcessingParametersSequence]: { vr: 'SQ' },
};

/**
 * Omits empty attributes, so that an empty value from the creator does not replace the value from
 * the study.
 */
const withValues = (dataSet: JsonDataSet): JsonDataSet =>
  Object.fromEntries(Object.entries(dataSet).filter(([, { Value }]) => Value !== undefined));

function codeItem(value: string, scheme: string, meaning: string): JsonDataSet {
  return {
    [TAG.CodeValue]: text('SH', value),
    [TAG.CodingSchemeDesignator]: text('SH', scheme),
    [TAG.CodeMeaning]: text('LO', meaning),
  };
}

const codeOf = (row: WorkitemRow): JsonDataSet =>
  codeItem(workitemCode(row), CODING_SCHEME, `Interpretation by ${row.endpoint}`);

/** From CID 9300 (PS3.16). */
const DISCONTINUED = codeItem('110513', 'DCM', 'Discontinued for unspecified reason');
const DELIVERING = 'Delivering the result';

/**
 * Returns the description of the progress. The state of a step whose result was withdrawn cannot
 * change any more, so the description says it.
 */
function progressLabel({ stage, state, status, withdrawal }: WorkitemRow): string {
  if (withdrawal) return `The result was withdrawn: ${WITHDRAWAL_REASONS[withdrawal.reason].title}`;
  if (status === 'succeeded' && state === 'IN PROGRESS') return DELIVERING;
  return stage.label || stage.name;
}

/** Returns the item of the Procedure Step Progress Information Sequence. */
export function progressItem(row: WorkitemRow): JsonDataSet {
  const { stage, test } = row;
  const label = progressLabel(row);
  return inOrder({
    [TAG.ProcedureStepProgress]: attribute('DS', Math.round(stage.progress * 100)),
    [TAG.ProcedureStepProgressDescription]: text('ST', test ? `MOCK: ${label}` : label),
    ...(row.state === 'CANCELED' && {
      [TAG.ProcedureStepCancellationDateTime]: dateTime(row.ended_at ?? row.created_at),
      ...reasonOf(row),
    }),
  });
}

/**
 * Returns the reason why a step was canceled: the one stated by the person who canceled it, or the
 * failure of the request.
 */
export function reasonOf({ fault, cancellation, status }: WorkitemRow): JsonDataSet {
  const stated =
    status === 'canceled' && cancellation
      ? only(cancellation.attributes, [
          TAG.ReasonForCancellation,
          TAG.ProcedureStepDiscontinuationReasonCodeSequence,
        ])
      : {};
  return {
    [TAG.ProcedureStepDiscontinuationReasonCodeSequence]: attribute('SQ', DISCONTINUED),
    ...(fault && {
      [TAG.ReasonForCancellation]: text('LT', `${fault.code}: ${catalogueEntry(fault.code).title}`),
    }),
    ...withValues(stated),
  };
}

/** Returns the item of the Unified Procedure Step Performed Procedure Sequence. */
function performedItem(row: WorkitemRow, around: Surroundings): JsonDataSet {
  const start = row.started_at ?? row.ended_at;
  return inOrder({
    [TAG.PerformedStationNameCodeSequence]: attribute(
      'SQ',
      codeItem('SONOGATE', CODING_SCHEME, 'Sonogate'),
    ),
    [TAG.PerformedWorkitemCodeSequence]: attribute('SQ', codeOf(row)),
    ...(start && { [TAG.PerformedProcedureStepStartDateTime]: dateTime(start) }),
    ...(isFinal(row.state) &&
      row.ended_at && { [TAG.PerformedProcedureStepEndDateTime]: dateTime(row.ended_at) }),
    [TAG.OutputInformationSequence]: attribute(
      'SQ',
      ...around.outputs.map((series) => referenceItem(series, around)),
    ),
  });
}

/** Returns an item of the Referenced Instances and Access Macro (PS3.3 table 10-3b). */
function referenceItem(series: ReferencedSeries, around: Surroundings): JsonDataSet {
  return inOrder({
    [TAG.TypeOfInstances]: text('CS', 'DICOM'),
    [TAG.StudyInstanceUID]: text('UI', series.study),
    [TAG.SeriesInstanceUID]: text('UI', series.series),
    [TAG.ReferencedSOPSequence]: attribute(
      'SQ',
      ...series.objects.map(({ sopClassUid, sopInstanceUid }) => ({
        [TAG.ReferencedSOPClassUID]: text('UI', sopClassUid),
        [TAG.ReferencedSOPInstanceUID]: text('UI', sopInstanceUid),
      })),
    ),
    ...accessOf(series, around),
  });
}

/**
 * Returns how a series can be retrieved: from the remote destination that holds it, otherwise from
 * this gateway. Empty if neither is possible.
 */
function accessOf(
  { study, series, destination }: ReferencedSeries,
  { destinations, retrieveFrom }: Surroundings,
): Record<string, JsonAttribute> {
  const at = destinations.find(({ name }) => name === destination);
  const wado = (address: string) => ({
    [TAG.WadoRsRetrievalSequence]: attribute('SQ', {
      [TAG.RetrieveURL]: text('UR', `${address}/studies/${study}/series/${series}`),
    }),
  });
  if (at?.type === 'dicom') {
    return {
      [TAG.DicomRetrievalSequence]: attribute('SQ', {
        [TAG.RetrieveAETitle]: text('AE', at.aeTitle),
      }),
    };
  }
  if (at?.type === 'dicomweb') return wado(at.baseUrl.replace(/\/+$/, ''));
  const isHere = destination === null || at?.type === 'local';
  return isHere && retrieveFrom !== null ? wado(retrieveFrom) : {};
}
