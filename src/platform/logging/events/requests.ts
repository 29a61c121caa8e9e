import { event } from '../event.ts';

export const REQUESTS_EVENTS = {
  requestWaitsForDisk: event<{ request: string }>({
    id: 'request_waits_for_disk',
    level: 'warn',
    text: 'disk full, run waits',
    meaning: 'A run found the disk full and waits until there is space.',
    action: 'Free some space on the disk of the data folder.',
  }),
  requestOutOfSpace: event<{ request: string; attempts: number }>({
    id: 'request_out_of_space',
    level: 'error',
    text: 'disk full in every attempt, request failed',
    meaning: 'Every attempt found the disk full; the request failed with `out_of_space`.',
    action: 'Free some space on the disk of the data folder, then submit the request again.',
  }),
  requestProcessDied: event<{ request: string; reason: string }>({
    id: 'request_process_died',
    level: 'warn',
    text: 'pipeline process died',
    meaning: 'The process of a run died; the run is repeated once.',
    action: 'If it continues, check the memory of the host and `worker.childMemoryMegabytes`.',
  }),
  requestFileStalled: event<{ request: string; seconds: number }>({
    id: 'request_file_stalled',
    level: 'warn',
    text: 'a file took too long to read',
    meaning:
      'Reading a file, or decoding one of its frames, took longer than `worker.readSeconds`. The process was stopped, and the request is run again without the file; the result lists it.',
    action: 'Examine the file with a DICOM tool; inform the vendor.',
  }),
  requestFailed: event<{ request: string; error: string }>({
    id: 'request_failed',
    level: 'error',
    text: 'pipeline failed',
    meaning: 'The pipeline threw an error, so the request failed.',
    action: 'Report it to the developers with this line and the request id.',
  }),
  requestResultInvalid: event<{ request: string; error?: string; places?: readonly string[] }>({
    id: 'request_result_invalid',
    level: 'error',
    text: 'pipeline wrote an invalid result',
    meaning: 'The result does not match its schema, so the request failed.',
    action: 'Report it to the developers with this line and the request id.',
  }),
  requestFailedUnexpectedly: event<{ request: string; error: string }>({
    id: 'request_failed_unexpectedly',
    level: 'error',
    text: 'request failed unexpectedly',
    meaning: 'An error in the gateway ended a request.',
    action: 'Check the disk and the database, then submit the request again.',
  }),
  requestNotProcessed: event<{ request?: string; error: string }>({
    id: 'request_not_processed',
    level: 'error',
    text: 'request could not be processed',
    meaning: 'The queue gave up on a job; the reconciler adds it again.',
    action: 'Check the database and Redis.',
  }),
  requestEventUnrecorded: event<{ request: string; error: string }>({
    id: 'request_event_unrecorded',
    level: 'warn',
    text: 'pipeline event not recorded',
    meaning:
      'A progress event could not be stored; the run continues. Storing a critical flag is retried until it succeeds.',
    action: 'Check the database.',
  }),
  pipelineOutput: event<{ pid?: number; output: string }>({
    id: 'pipeline_output',
    level: 'warn',
    text: 'pipeline output',
    meaning:
      'A pipeline process wrote to standard output or standard error, as native libraries do.',
    action: 'Nothing, unless the run failed.',
  }),
  modelsReady: event<{ models: readonly object[] }>({
    id: 'models_ready',
    level: 'info',
    text: 'models ready',
    meaning: 'The models are loaded; the line shows what each runs on.',
    action: null,
  }),
  acceleratorNotUsed: event<{ model: string; accelerator: string; reason: string; detail: string }>(
    {
      id: 'accelerator_not_used',
      level: 'info',
      text: 'accelerator not used',
      meaning: 'With `models.provider: auto`, a model runs on the CPU; the line gives the reason.',
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
    meaning: 'The accelerator set in `models.provider` cannot be used; the CPU is used instead.',
    action: 'See the reason; check the driver and library, or set `models.provider: auto`.',
  }),
  acceleratorFailed: event<{ model: string; accelerator: string; reason: string; detail: string }>({
    id: 'accelerator_failed',
    level: 'warn',
    text: 'accelerator failed',
    meaning:
      'A model failed on a GPU; the inference was repeated on the CPU, where the model now stays.',
    action: 'Check the GPU driver and memory; restart the gateway to use the GPU again.',
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
    action: 'Check the database or Redis.',
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
    text: 'reconciliation failed, will retry',
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
    text: 'purge failed, will retry',
    meaning: 'Expired requests could not be purged.',
    action: 'Check the disk and the bucket.',
  }),
  copiesNotRemoved: event<{ err: unknown }>({
    id: 'copies_not_removed',
    level: 'warn',
    text: 'expired copies could not be removed',
    meaning: 'Local copies of objects in the bucket remain on the disk.',
    action: 'Check the permissions of the data folder.',
  }),
  workNotRemoved: event<{ err: unknown }>({
    id: 'work_not_removed',
    level: 'warn',
    text: 'the files of a lost run could not be removed, will retry',
    meaning: 'Copies of images that a worker used when it was killed remain in `work/`.',
    action: 'Check the permissions of the data folder.',
  }),
  uploadsNotRemoved: event<{ err: unknown }>({
    id: 'uploads_not_removed',
    level: 'warn',
    text: 'expired uploads could not be removed',
    meaning: 'Expired uploads are still stored.',
    action: 'Check the disk and the bucket.',
  }),
  storageAway: event<{ request: string; error: string }>({
    id: 'storage_away',
    level: 'warn',
    text: 'object storage unreachable, will retry',
    meaning:
      'The bucket in `SONOGATE_BLOB_URL` does not work; the run waits to read its files or to store its results.',
    action: 'Check the storage.',
  }),
  storageBypassed: event<{ request: string; error: string }>({
    id: 'storage_bypassed',
    level: 'warn',
    text: 'object storage unreachable, artifact served by the gateway',
    meaning: 'The bucket did not respond, so an artifact was served from this host.',
    action: 'Check the storage.',
  }),
} as const;
