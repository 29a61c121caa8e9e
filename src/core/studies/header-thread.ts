import {
  headerInFile,
  isCutOff,
  wantedAttributes,
} from '../../../pipelines/dicom/bounded-header.ts';
import { contentDigest } from '../../../pipelines/dicom/content-digest.ts';
import { carryOutTasks } from '../../platform/task-thread.ts';
import { HEADER_ATTRIBUTES, instanceHeader } from './instance-header.ts';
import type { HeaderAnswer, HeaderTask } from './read-header.ts';
import { attributesOf, valuesAt } from './rules/attribute-values.ts';

/** Entry point of the thread on which read-header.ts reads headers. */
carryOutTasks(async (task: HeaderTask): Promise<HeaderAnswer> => {
  const { file, read } = task;
  if (read === 'header')
    return { header: instanceHeader(await headerInFile(file, HEADER_ATTRIBUTES)) };
  if (read === 'content') return { contentSha256: contentDigest(file) };
  if (read === 'cut-off') return { isCutOff: isCutOff(file, task.frames) };
  const { paths } = task;
  const dataSet = await headerInFile(file, wantedAttributes(attributesOf(paths)));
  return { values: paths.map((path) => valuesAt(dataSet, path)) };
});
