import { event } from '../event.ts';

/** Requests, pipelines, queue and stored files. */
export const REQUESTS_EVENTS = {
  requestWaitsForDisk: event<{ request: string }>({
    id: 'request_waits_for_disk',
    level: 'warn',
    text: 'disk full, the run waits',
    meaning: 'A run has begun on a full disk and waits until there is room.',
    action: 'Make room on the disk of the data folder.',
  }),
  requestOutOfSpace: event<{ request: string; attempts: number }>({
    id: 'request_out_of_space',
    level: 'error',
    text: 'the disk has no room for the request',
    meaning: 'Every attempt of a run met a full disk; the request failed with `out_of_space`.',
    action: 'Make room on the disk of the data folder, then run it again.',
  }),
  requestProcessDied: event<{ request: string; reason: string }>({
    id: 'request_process_died',
    level: 'warn',
    text: 'pipeline process died',
    meaning: 'The process of a run died; it is repeated once.',
    action: 'If it goes on: memory of the machine, `worker.childMemoryMegabytes`.',
  }),
  requestFailed: event<{ request: string; error: string }>({
    id: 'request_failed',
    level: 'error',
    text: 'pipeline failed',
    meaning: 'The pipeline threw; the request failed.',
    action: 'Send the line with the request id to the makers.',
  }),
  requestResultInvalid: event<{ request: string; error?: string; places?: readonly string[] }>({
    id: 'request_result_invalid',
    level: 'error',
    text: 'pipeline left an invalid result',
    meaning: 'The result does not agree with its schema; the request failed.',
    action: 'Send the line with the request id to the makers.',
  }),
  requestFailedUnexpectedly: event<{ request: string; error: string }>({
    id: 'request_failed_unexpectedly',
    level: 'error',
    text: 'request failed unexpectedly',
    meaning: 'An error of the gateway ended a request.',
    action: 'Check disk and database; run it again.',
  }),
  requestNotProcessed: event<{ request?: string; error: string }>({
    id: 'request_not_processed',
    level: 'error',
    text: 'request could not be processed',
    meaning: 'The queue gave up a job; the reconciler puts it back.',
    action: 'Check database and Redis.',
  }),
  requestEventUnrecorded: event<{ request: string; error: string }>({
    id: 'request_event_unrecorded',
    level: 'warn',
    text: 'pipeline event not recorded',
    meaning: 'A progress event could not be stored; the run goes on.',
    action: 'Check the database.',
  }),
  pipelineOutput: event<{ pid?: number; output: string }>({
    id: 'pipeline_output',
    level: 'warn',
    text: 'pipeline output',
    meaning: 'A pipeline process wrote to its output; native libraries do.',
    action: 'Nothing, unless the run failed.',
  }),
  modelsReady: event<{ models: readonly object[] }>({
    id: 'models_ready',
    level: 'info',
    text: 'models ready',
    meaning: 'The models are open, with what each runs on.',
    action: null,
  }),
  acceleratorNotUsed: event<{ model: string; accelerator: string; reason: string; detail: string }>(
    {
      id: 'accelerator_not_used',
      level: 'info',
      text: 'accelerator not used',
      meaning:
        'With `models.provider: auto` a model runs on the processor: the line has the reason.',
      action: 'If a GPU was meant: its driver; docs/model-training.md, "Providers".',
    },
  ),
  acceleratorAskedForNotUsed: event<{
    model: string;
    accelerator: string;
    reason: string;
    detail: string;
  }>({
    id: 'accelerator_asked_for_not_used',
    level: 'warn',
    text: 'accelerator asked for is not used',
    meaning: 'What `models.provider` names cannot be used; the processor stands in for it.',
    action: 'Read the reason: driver, library, or `models.provider: auto`.',
  }),
  acceleratorFailed: event<{ model: string; accelerator: string; reason: string; detail: string }>({
    id: 'accelerator_failed',
    level: 'warn',
    text: 'accelerator failed',
    meaning: 'A run failed on a GPU and was repeated on the processor, where its model stays.',
    action: 'Check driver and memory of the GPU; start the gateway again to use it again.',
  }),
  queueUnreachable: event<{ request: string; error: string }>({
    id: 'queue_unreachable',
    level: 'warn',
    text: 'queue not reached, will retry',
    meaning: 'A stored request did not get onto the queue; the reconciler puts it there.',
    action: 'If it goes on: Redis or the database.',
  }),
  queueError: event<{ error: string }>({
    id: 'queue_error',
    level: 'warn',
    text: 'queue',
    meaning: 'The queue reported an error.',
    action: 'Check database or Redis.',
  }),
  redisConnection: event<{ error: string }>({
    id: 'redis_connection',
    level: 'warn',
    text: 'Redis connection',
    meaning: 'The connection to Redis failed; it is opened again.',
    action: 'Check Redis.',
  }),
  reconcileFailed: event<{ error: string }>({
    id: 'reconcile_failed',
    level: 'warn',
    text: 'reconciling failed, will retry',
    meaning: 'Lost jobs could not be looked for.',
    action: 'Check the database.',
  }),
  purgeFailed: event<{ error: string }>({
    id: 'purge_failed',
    level: 'warn',
    text: 'purging failed, will retry',
    meaning: 'Expired requests could not be purged.',
    action: 'Check disk and bucket.',
  }),
  copiesNotRemoved: event<{ err: unknown }>({
    id: 'copies_not_removed',
    level: 'warn',
    text: 'expired copies could not be removed',
    meaning: 'Copies of what lies in the bucket stay on the disk.',
    action: 'Check the permissions of the data folder.',
  }),
  uploadsNotRemoved: event<{ err: unknown }>({
    id: 'uploads_not_removed',
    level: 'warn',
    text: 'expired uploads could not be removed',
    meaning: 'Expired uploads stay.',
    action: 'Check disk and bucket.',
  }),
  storageAway: event<{ request: string; error: string }>({
    id: 'storage_away',
    level: 'warn',
    text: 'storage away, will retry',
    meaning: 'The bucket of `SONOGATE_BLOB_URL` does not answer; runs wait with their end.',
    action: 'Check the storage.',
  }),
  storageBypassed: event<{ request: string; error: string }>({
    id: 'storage_bypassed',
    level: 'warn',
    text: 'storage away, gateway serves it',
    meaning: 'An artifact was served from this machine because the bucket does not answer.',
    action: 'Check the storage.',
  }),
} as const;
