import type { JsonDataSet } from '../../../../pipelines/dicom/dicom-json.ts';
import { UNIFIED_PROCEDURE_STEP } from '../../../../pipelines/dicom/sop-classes.ts';
import { WORKLIST_UID } from '../../../core/workitems/subscriptions.ts';
import { type StepState, type WorkitemRow, workitemUid } from '../../../core/workitems/workitem.ts';
import { attribute, TAG, text } from './data-set.ts';
import { progressItem, reasonOf } from './view.ts';

/** Event reports (PS3.4 table CC.2.4-1) in the DICOM JSON model, without their message IDs. */

const EVENT_TYPE = { state: 1, cancelRequested: 2, progress: 3, scpStatus: 4 } as const;

/** Command set elements that PS3.18 11.13 includes in the report. */
const AFFECTED_SOP_CLASS_UID = '00000002';
const MESSAGE_ID = '00000110';
const AFFECTED_SOP_INSTANCE_UID = '00001000';
const EVENT_TYPE_ID = '00001002';

function report(uid: string, type: keyof typeof EVENT_TYPE, information: JsonDataSet): JsonDataSet {
  return {
    [AFFECTED_SOP_CLASS_UID]: text('UI', UNIFIED_PROCEDURE_STEP),
    [AFFECTED_SOP_INSTANCE_UID]: text('UI', uid),
    [EVENT_TYPE_ID]: attribute('US', EVENT_TYPE[type]),
    ...information,
  };
}

/**
 * Returns the report of a step's state.
 * @param state an earlier state; by default the current one.
 */
export function stateReport(row: WorkitemRow, state: StepState = row.state): JsonDataSet {
  return report(workitemUid(row), 'state', {
    [TAG.InputReadinessState]: text('CS', 'READY'),
    [TAG.ProcedureStepState]: text('CS', state),
    ...(state === 'CANCELED' && reasonOf(row)),
  });
}

export const isStateReport = (one: JsonDataSet): boolean =>
  one[EVENT_TYPE_ID]?.Value?.[0] === EVENT_TYPE.state;

function progressReport(row: WorkitemRow): JsonDataSet {
  return report(workitemUid(row), 'progress', {
    [TAG.ProcedureStepProgressInformationSequence]: attribute('SQ', progressItem(row)),
  });
}

function cancelRequestedReport(row: WorkitemRow): JsonDataSet {
  return report(workitemUid(row), 'cancelRequested', {
    [TAG.RequestingAE]: text('AE', row.cancellation?.requestedBy ?? ''),
    ...row.cancellation?.attributes,
  });
}

/**
 * Returns the report of the SCP status. The lists of workitems and of subscriptions are both
 * reported as started warm, because they survive a restart of the gateway.
 */
export function scpStatusReport(status: 'RESTARTED' | 'GOING DOWN'): JsonDataSet {
  return report(WORKLIST_UID, 'scpStatus', {
    [TAG.ScpStatus]: text('CS', status),
    [TAG.SubscriptionListStatus]: text('CS', 'WARM START'),
    [TAG.UnifiedProcedureStepListStatus]: text('CS', 'WARM START'),
  });
}

/** Returns the text of a message: the report with its message ID on this channel. */
export const messageOf = (reported: JsonDataSet, messageId: number): string =>
  JSON.stringify({ [MESSAGE_ID]: attribute('US', messageId), ...reported });

export interface Reported {
  state: StepState;
  progress: string;
  cancelRequested: boolean;
}

export const reportedOf = (row: WorkitemRow): Reported => ({
  state: row.state,
  progress: JSON.stringify(progressItem(row)),
  cancelRequested: row.status === 'canceled' && row.cancellation !== null,
});

/**
 * Returns reports of everything that has happened to a step since the last reports, in
 * chronological order. They include states through which the step passed between two checks.
 * @param last null for a new step.
 */
export function reportsSince(last: Reported | null, row: WorkitemRow): JsonDataSet[] {
  const now = reportedOf(row);
  const way = WAY[row.state];
  const left = last === null ? way : way.slice(way.indexOf(last.state) + 1);
  const asked = now.cancelRequested && !last?.cancelRequested;
  const moved = row.state !== 'SCHEDULED' && now.progress !== last?.progress;
  return [
    ...(asked && left.length > 0 ? [cancelRequestedReport(row)] : []),
    ...left.filter((state) => state !== row.state).map((state) => stateReport(row, state)),
    ...(moved ? [progressReport(row)] : []),
    ...(left.length > 0 ? [stateReport(row)] : []),
  ];
}

/**
 * For each state, the states through which a step passes to reach it (PS3.4 CC.1.1), including the
 * state itself.
 */
const WAY: Readonly<Record<StepState, readonly StepState[]>> = {
  SCHEDULED: ['SCHEDULED'],
  'IN PROGRESS': ['SCHEDULED', 'IN PROGRESS'],
  COMPLETED: ['SCHEDULED', 'IN PROGRESS', 'COMPLETED'],
  // PS3.4 CC.2.2.3: a scheduled step that is canceled passes through the state IN PROGRESS.
  CANCELED: ['SCHEDULED', 'IN PROGRESS', 'CANCELED'],
};
