import type { Reception } from '../../dimse/measured-storage.ts';
import type { ModelInUse } from '../../pipelines/contract/job.ts';
import type { InferenceRun } from '../../pipelines/inference/inference-channel.ts';
import type { Queryable } from '../database/port.ts';
import type { RequestQueue } from '../queue/queue.ts';
import { WORKING_SECONDS } from './buckets.ts';
import type { OnEvent } from './counted-logger.ts';
import { followEndedWork } from './ended-work.ts';
import type { Metric } from './exposition.ts';
import { createCounter, createHistogram } from './meters.ts';
import { readOpenWork } from './open-work.ts';
import { watchThisProcess } from './this-process.ts';

/** What this process counts of what passes through it; see docs/monitoring.md. */
export interface ProcessMeters {
  onEvent: OnEvent;
  /** An object of the source came by C-STORE. */
  onReception(source: string, reception: Reception): void;
  /** A model was called in a pipeline process of this gateway. */
  onInference(run: InferenceRun): void;
  /** Told once the models are open. */
  modelsReady(models: readonly ModelInUse[]): void;
  models(): readonly ModelInUse[];
  read(): Metric[];
}

export function createProcessMeters(): ProcessMeters {
  let models: readonly ModelInUse[] = [];
  let open = 0;
  const events = createCounter({
    name: 'sonogate_events_total',
    help: 'Log events of this process by id, and by error code where they have one.',
  });
  const objects = createCounter({
    name: 'sonogate_dicom_objects_total',
    help: 'Objects received by C-STORE, by source and outcome.',
  });
  const bytes = createCounter({
    name: 'sonogate_dicom_received_bytes_total',
    help: 'Bytes of data sets received by C-STORE, by source.',
  });
  const seconds = createHistogram({
    name: 'sonogate_dicom_store_seconds',
    help: 'From the C-STORE request to the moment when the object is safe, by source.',
    buckets: WORKING_SECONDS,
  });
  const images = createCounter({
    name: 'sonogate_model_images_total',
    help: 'Images that went through each model in the pipelines of this process.',
  });
  const inference = createHistogram({
    name: 'sonogate_model_seconds',
    help: 'Time of one call of a model, with a batch of images.',
    buckets: WORKING_SECONDS,
  });
  return {
    onEvent(event, { code }) {
      events.add(1, { event, code: typeof code === 'string' ? code : '' });
      if (event === 'association_accepted') open += 1;
      if (event === 'association_ended') open -= 1;
    },
    onReception(source, reception) {
      objects.add(1, { source, outcome: reception.outcome });
      bytes.add(reception.bytes, { source });
      if (reception.outcome === 'stored') seconds.observe(reception.seconds, { source });
    },
    onInference({ model, images: many, seconds: took }) {
      images.add(many, { model });
      inference.observe(took, { model });
    },
    modelsReady(opened) {
      models = opened;
    },
    models: () => models,
    read: () => [
      events.read(),
      {
        name: 'sonogate_dicom_associations_open',
        help: 'Associations that peers hold open with this process.',
        type: 'gauge',
        samples: [{ labels: {}, value: open }],
      },
      objects.read(),
      bytes.read(),
      seconds.read(),
      images.read(),
      inference.read(),
    ],
  };
}

/** All of `GET /metrics`: of this process, and of the site from its tables. No identity. */
export function createMetrics({
  database,
  queue,
  meters,
  ...process
}: {
  database: Queryable;
  queue: Pick<RequestQueue, 'counts'>;
  meters: ProcessMeters;
  version: string;
  roles: readonly string[];
  dataDir: string;
}): () => Promise<Metric[]> {
  const ended = followEndedWork(database);
  // What ends from now on is counted, whenever the first scrape comes.
  const begun = ended().catch(() => []);
  const self = watchThisProcess({ ...process, models: meters.models });
  // Two scrapes at once share one reading: the followers of the tables keep a place in them.
  let reading: Promise<Metric[]> | null = null;
  const read = async () => {
    await begun;
    return [
      ...(await self()),
      ...meters.read(),
      ...(await readOpenWork(database, queue)),
      ...(await ended()),
    ];
  };
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}
