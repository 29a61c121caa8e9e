import { parentPort } from 'node:worker_threads';
import { headerInFile, wantedAttributes } from '../../../pipelines/dicom/bounded-header.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { HeaderAnswer, HeaderTask } from './header-reader.ts';
import { HEADER_ATTRIBUTES, instanceHeader } from './instance-header.ts';
import { attributesOf, valuesAt } from './rules/attribute-values.ts';

/**
 * Entry point of the thread on which header-reader.ts reads headers. Tasks are carried out one
 * after the other.
 */

async function done(task: HeaderTask): Promise<HeaderAnswer> {
  try {
    if (task.paths === null) {
      return { header: instanceHeader(await headerInFile(task.file, HEADER_ATTRIBUTES)) };
    }
    const wanted = wantedAttributes(attributesOf(task.paths));
    const dataSet = await headerInFile(task.file, wanted);
    return { values: task.paths.map((path) => valuesAt(dataSet, path)) };
  } catch (error) {
    if (error instanceof SonogateError) return { refusal: error.code, detail: error.detail };
    // An error copied to another thread loses its `code`.
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    return { failure: String(error), code };
  }
}

parentPort?.on('message', (task: HeaderTask) => {
  void done(task).then((answer) => parentPort?.postMessage(answer));
});
// Reports that the thread now accepts tasks.
parentPort?.postMessage('ready');
