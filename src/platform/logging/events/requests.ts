import { event } from '../event.ts';

export const REQUESTS_EVENTS = {
  request_waits_for_disk: event<{ request: string }>({
    level: 'warn',
    text: 'disk full, run waits',
    meaning: 'A run found the disk full and waits until there is space.',
    action: 'Free some space on the disk of the data folder.',
  }),
  request_out_of_space: event<{ request: string; attempts: number }>({
    level: 'error',
    text: 'disk full in every attempt, request failed',
    meaning: 'Every attempt found the disk full; the request failed with `out_of_space`.',
    action: 'Free some space on the disk of the data folder, then submit the request again.',
  }),
  request_process_died: event<{ request: string; reason: string }>({
    level: 'warn',
    text: 'pipeline process died',
    meaning: 'The process of a run died; the run is repeated once.',
    action: 'If it continues, check the memory of the host and `worker.childMemoryMegabytes`.',
  }),
  request_file_stalled: event<{ request: string; seconds: number }>({
    level: 'warn',
    text: 'a file took too long to read',
    meaning:
      'Reading a file, or decoding one of its frames, took longer than `worker.readSeconds`. The process was stopped, and the request is run again without the file; the result lists it.',
    action: 'Examine the file with a DICOM tool; inform the vendor.',
  }),
  request_failed: event<{ request: string; error: string }>({
    level: 'error',
    text: 'pipeline failed',
    meaning: 'The pipeline threw an error, so the request failed.',
    action: 'Report it to the developers with this line and the request id.',
  }),
  request_result_invalid: event<{ request: string; error?: string; places?: readonly string[] }>({
    level: 'error',
    text: 'pipeline wrote an invalid result',
    meaning: 'The result does not match its schema, so the request failed.',
    action: 'Report it to the developers with this line and the request id.',
  }),
  request_failed_unexpectedly: event<{ request: string; error: string }>({
    level: 'error',
    text: 'request failed unexpectedly',
    meaning: 'An error in the gateway ended a request.',
    action: 'Check the disk and the database, then submit the request again.',
  }),
  request_not_processed: event<{ request?: string; error: string }>({
    level: 'error',
    text: 'request could not be processed',
    meaning: 'The queue gave up on a job; the reconciler adds it again.',
    action: 'Check the database and Redis.',
  }),
  request_event_unrecorded: event<{ request: string; error: string }>({
    level: 'warn',
    text: 'pipeline event not recorded',
    meaning:
      'A progress event could not be stored; the run continues. Storing a critical flag is retried until it succeeds.',
    action: 'Check the database.',
  }),
  pipeline_output: event<{ pid?: number; output: string }>({
    level: 'warn',
    text: 'pipeline output',
    meaning:
      'A pipeline process wrote to standard output or standard error, as native libraries do.',
    action: 'Nothing, unless the run failed.',
  }),
  models_ready: event<{ models: readonly object[] }>({
    level: 'info',
    text: 'models ready',
    meaning: 'The models are loaded; the line shows what each runs on.',
  }),
  accelerator_not_used: event<{
    model: string;
    accelerator: string;
    reason: string;
    detail: string;
  }>({
    level: 'info',
    text: 'accelerator not used',
    meaning: 'With `models.provider: auto`, a model runs on the CPU; the line gives the reason.',
    action: 'If a GPU should be used, check its driver; see docs/model-training.md, "Providers".',
  }),
  accelerator_asked_for_not_used: event<{
    model: string;
    accelerator: string;
    reason: string;
    detail: string;
  }>({
    level: 'warn',
    text: 'configured accelerator is not used',
    meaning: 'The accelerator set in `models.provider` cannot be used; the CPU is used instead.',
    action: 'See the reason; check the driver and library, or set `models.provider: auto`.',
  }),
  accelerator_failed: event<{ model: string; accelerator: string; reason: string; detail: string }>(
    {
      level: 'warn',
      text: 'accelerator failed',
      meaning:
        'A model failed on a GPU; the inference was repeated on the CPU, where the model now stays.',
      action: 'Check the GPU driver and memory; restart the gateway to use the GPU again.',
    },
  ),
  queue_unreachable: event<{ request: string; error: string }>({
    level: 'warn',
    text: 'queue unreachable, will retry',
    meaning: 'A stored request could not be added to the queue; the reconciler adds it.',
    action: 'If it continues, check Redis or the database.',
  }),
  queue_error: event<{ error: string }>({
    level: 'warn',
    text: 'queue error',
    meaning: 'The queue reported an error. The same error is logged once a minute.',
    action: 'Check the database or Redis.',
  }),
  redis_connection: event<{ error: string }>({
    level: 'warn',
    text: 'Redis connection failed',
    meaning:
      'The connection to Redis failed; it is being opened again. The same error is logged once a minute.',
    action: 'Check Redis.',
  }),
  reconcile_failed: event<{ error: string }>({
    level: 'warn',
    text: 'reconciliation failed, will retry',
    meaning: 'The check for lost jobs failed.',
    action: 'Check the database.',
  }),
  result_never_signed: event<{ request: string; destinations: string }>({
    level: 'warn',
    text: 'result purged before it was signed',
    meaning:
      'The retention of a result ended before anybody signed it. The destinations that wait for a signature received nothing.',
    action: 'If the report is needed, run the study again and sign the result.',
  }),
  purge_failed: event<{ error: string }>({
    level: 'warn',
    text: 'purge failed, will retry',
    meaning: 'Expired requests could not be purged.',
    action: 'Check the disk and the bucket.',
  }),
  copies_not_removed: event<{ err: unknown }>({
    level: 'warn',
    text: 'expired copies could not be removed',
    meaning: 'Local copies of objects in the bucket remain on the disk.',
    action: 'Check the permissions of the data folder.',
  }),
  work_not_removed: event<{ err: unknown }>({
    level: 'warn',
    text: 'the files of a lost run could not be removed, will retry',
    meaning: 'Copies of images that a worker used when it was killed remain in `work/`.',
    action: 'Check the permissions of the data folder.',
  }),
  uploads_not_removed: event<{ err: unknown }>({
    level: 'warn',
    text: 'expired uploads could not be removed',
    meaning: 'Expired uploads are still stored.',
    action: 'Check the disk and the bucket.',
  }),
  storage_away: event<{ request: string; error: string }>({
    level: 'warn',
    text: 'object storage unreachable, will retry',
    meaning:
      'The bucket in `SONOGATE_BLOB_URL` does not work; the run waits to read its files or to store its results.',
    action: 'Check the storage.',
  }),
  storage_bypassed: event<{ request: string; error: string }>({
    level: 'warn',
    text: 'object storage unreachable, artifact served by the gateway',
    meaning: 'The bucket did not respond, so an artifact was served from this host.',
    action: 'Check the storage.',
  }),
} as const;
