import { event } from '../event.ts';

/** Requests, pipelines, queue and stored files. */
export const REQUESTS_EVENTS = {
  requestWaitsForDisk: event<{ request: string }>({
    id: 'request_waits_for_disk',
    level: 'warn',
    text: 'disk full, run waits',
    meaning: 'A run found the disk full and waits until there is room.',
    action: 'Make room on the disk of the data folder.',
  }),
  requestOutOfSpace: event<{ request: string; attempts: number }>({
    id: 'request_out_of_space',
    level: 'error',
    text: 'disk full in every attempt, request failed',
    meaning: 'Every attempt found the disk full; the request failed with `out_of_space`.',
    action: 'Make room on the disk of the data folder, then submit it again.',
  }),
  requestProcessDied: event<{ request: string; reason: string }>({
    id: 'request_process_died',
    level: 'warn',
    text: 'pipeline process died',
    meaning: 'The process of a run died; it is repeated once.',
    action: 'If it continues, check the memory of the machine and `worker.childMemoryMegabytes`.',
  }),
  requestFileStalled: event<{ request: string; seconds: number }>({
    id: 'request_file_stalled',
    level: 'warn',
    text: 'a file took too long to read',
    meaning:
      'Reading a file, or decoding one of its frames, took longer than `worker.readSeconds`. The process was ended, and the request is run again without the file, which the result names.',
    action: 'Examine the file with a DICOM tool; inform the vendor.',
  }),
  requestFailed: event<{ request: string; error: string }>({
    id: 'request_failed',
    level: 'error',
    text: 'pipeline failed',
    meaning: 'The pipeline threw; the request failed.',
    action: 'Report it to the developers with this line and the request id.',
  }),
  requestResultInvalid: event<{ request: string; error?: string; places?: readonly string[] }>({
    id: 'request_result_invalid',
    level: 'error',
    text: 'pipeline left an invalid result',
    meaning: 'The result does not match its schema; the request failed.',
    action: 'Report it to the developers with this line and the request id.',
  }),
  requestFailedUnexpectedly: event<{ request: string; error: string }>({
    id: 'request_failed_unexpectedly',
    level: 'error',
    text: 'request failed unexpectedly',
    meaning: 'An error of the gateway ended a request.',
    action: 'Check disk and database, then submit it again.',
  }),
  requestNotProcessed: event<{ request?: string; error: string }>({
    id: 'request_not_processed',
    level: 'error',
    text: 'request could not be processed',
    meaning: 'The queue gave up a job; the reconciler adds it again.',
    action: 'Check database and Redis.',
  }),
  requestEventUnrecorded: event<{ request: string; error: string }>({
    id: 'request_event_unrecorded',
    level: 'warn',
    text: 'pipeline event not recorded',
    meaning:
      'A progress event could not be stored; the run continues. A critical flag is tried again until it is stored.',
    action: 'Check the database.',
  }),
  pipelineOutput: event<{ pid?: number; output: string }>({
    id: 'pipeline_output',
    level: 'warn',
    text: 'pipeline output',
    meaning: 'A pipeline process wrote to its output, as native libraries do.',
    action: 'Nothing, unless the run failed.',
  }),
  modelsReady: event<{ models: readonly object[] }>({
    id: 'models_ready',
    level: 'info',
    text: 'models ready',
    meaning: 'The models are open; the line says what each runs on.',
    action: null,
  }),
  acceleratorNotUsed: event<{ model: string; accelerator: string; reason: string; detail: string }>(
    {
      id: 'accelerator_not_used',
      level: 'info',
      text: 'accelerator not used',
      meaning:
        'With `models.provider: auto`, a model runs on the processor; the line has the reason.',
      action: 'If a GPU should be used, check its driver; see docs/model-training.md, "Providers".',
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
    text: 'configured accelerator is not used',
    meaning: 'The accelerator of `models.provider` cannot be used; the processor is used instead.',
    action: 'See the reason: check driver and library, or set `models.provider: auto`.',
  }),
  acceleratorFailed: event<{ model: string; accelerator: string; reason: string; detail: string }>({
    id: 'accelerator_failed',
    level: 'warn',
    text: 'accelerator failed',
    meaning:
      'A model failed on a GPU; the call was repeated on the processor, where the model now stays.',
    action: 'Check driver and memory of the GPU; restart the gateway to use it again.',
  }),
  queueUnreachable: event<{ request: string; error: string }>({
    id: 'queue_unreachable',
    level: 'warn',
    text: 'queue unreachable, will retry',
    meaning: 'A stored request could not be added to the queue; the reconciler adds it.',
    action: 'If it continues, check Redis or the database.',
  }),
  queueError: event<{ error: string }>({
    id: 'queue_error',
    level: 'warn',
    text: 'queue error',
    meaning: 'The queue reported an error.',
    action: 'Check database or Redis.',
  }),
  redisConnection: event<{ error: string }>({
    id: 'redis_connection',
    level: 'warn',
    text: 'Redis connection failed',
    meaning: 'The connection to Redis failed; it is being opened again.',
    action: 'Check Redis.',
  }),
  reconcileFailed: event<{ error: string }>({
    id: 'reconcile_failed',
    level: 'warn',
    text: 'reconciling failed, will retry',
    meaning: 'The check for lost jobs failed.',
    action: 'Check the database.',
  }),
  resultNeverSigned: event<{ request: string; destinations: string }>({
    id: 'result_never_signed',
    level: 'warn',
    text: 'result purged before it was signed',
    meaning:
      'The retention of a result ended before anybody signed it. The destinations that wait for a signature received nothing.',
    action: 'If the report is needed, run the study again and sign the result.',
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
    meaning: 'Local copies of objects in the bucket stay on the disk.',
    action: 'Check the permissions of the data folder.',
  }),
  uploadsNotRemoved: event<{ err: unknown }>({
    id: 'uploads_not_removed',
    level: 'warn',
    text: 'expired uploads could not be removed',
    meaning: 'Expired uploads are still stored.',
    action: 'Check disk and bucket.',
  }),
  storageAway: event<{ request: string; error: string }>({
    id: 'storage_away',
    level: 'warn',
    text: 'object storage unreachable, will retry',
    meaning: 'The bucket of `SONOGATE_BLOB_URL` does not answer; runs wait to store their results.',
    action: 'Check the storage.',
  }),
  storageBypassed: event<{ request: string; error: string }>({
    id: 'storage_bypassed',
    level: 'warn',
    text: 'object storage unreachable, artifact served by the gateway',
    meaning: 'The bucket did not answer, so an artifact was served from this machine.',
    action: 'Check the storage.',
  }),
} as const;
