import type { Task } from '@medplum/fhirtypes';
import { WITHDRAWAL_REASONS } from '../../../../pipelines/contract/withdrawal.ts';
import type { Priority, RequestRow, RequestStatus } from '../../../core/requests/request.ts';
import { catalogueEntry } from '../../../platform/errors/catalogue.ts';

/**
 * This file represents requests as FHIR R4 Tasks. A Task contains no patient identity; only the
 * study of the request does.
 */

type TaskStatus = NonNullable<Task['status']>;

/** Status of a request → status of its Task (R4 value set task-status). */
export const TASK_STATUS = {
  queued: 'accepted',
  preparing: 'in-progress',
  running: 'in-progress',
  succeeded: 'completed',
  failed: 'failed',
  canceled: 'cancelled',
  rejected: 'rejected',
  // The request succeeded, but its result has since been purged.
  expired: 'completed',
} as const satisfies Record<RequestStatus, TaskStatus>;

const PRIORITY = { low: 'routine', normal: 'routine', high: 'urgent' } as const satisfies Record<
  Priority,
  Task['priority']
>;

/** The code system of endpoints. Its codes are the endpoint ids. */
export const ENDPOINT_SYSTEM = 'urn:sonogate:endpoint';

/** FHIR ids cannot contain an underscore (R4 2.24.0.1). */
export const taskId = (requestId: string): string => requestId.replace('_', '-');
export const requestIdOf = (id: string): string => id.replace('-', '_');

/**
 * Returns a request as a Task. The Task of a withdrawn result has no output.
 * @param address the server's address, without a trailing slash.
 */
export function taskOf(row: RequestRow, address: string): Task {
  const self = `${address}/v1/requests/${row.id}`;
  const { withdrawal } = row;
  const changed = withdrawal
    ? new Date(withdrawal.at)
    : (row.ended_at ?? row.started_at ?? row.created_at);
  return {
    resourceType: 'Task',
    id: taskId(row.id),
    meta: {
      lastUpdated: changed.toISOString(),
      ...(row.test && {
        security: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason', code: 'HTEST' }],
      }),
    },
    identifier: [{ system: `${address}/v1/requests`, value: row.id }],
    status: TASK_STATUS[row.status],
    ...(row.fault && {
      statusReason: {
        coding: [{ system: `${address}/errors`, code: row.fault.code }],
        text: catalogueEntry(row.fault.code).title,
      },
    }),
    businessStatus: { text: businessStatus(row) },
    intent: 'order',
    priority: PRIORITY[row.priority],
    code: {
      coding: [
        { system: 'http://hl7.org/fhir/CodeSystem/task-code', code: 'fulfill' },
        { system: ENDPOINT_SYSTEM, version: row.version, code: row.endpoint },
      ],
      text: `${row.endpoint} ${row.version}`,
    },
    ...(row.started_at && {
      executionPeriod: {
        start: row.started_at.toISOString(),
        ...(row.ended_at && { end: row.ended_at.toISOString() }),
      },
    }),
    authoredOn: row.created_at.toISOString(),
    lastModified: changed.toISOString(),
    ...(row.status === 'succeeded' &&
      !withdrawal && {
        output: [{ type: { text: 'Result (JSON)' }, valueUrl: self }],
      }),
  };
}

function businessStatus({ status, stage, withdrawal }: RequestRow): string {
  if (withdrawal) {
    return `The result was withdrawn: ${WITHDRAWAL_REASONS[withdrawal.reason].title}`;
  }
  return status === 'expired' ? 'The result has been purged' : stage.label || stage.name;
}
