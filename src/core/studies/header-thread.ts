import { headerInFile, wantedAttributes } from '../../../pipelines/dicom/bounded-header.ts';
import { carryOutTasks } from '../../platform/task-thread.ts';
import { HEADER_ATTRIBUTES, instanceHeader } from './instance-header.ts';
import type { HeaderAnswer, HeaderTask } from './read-header.ts';
import { attributesOf, valuesAt } from './rules/attribute-values.ts';

/** Entry point of the thread on which read-header.ts reads headers. */
carryOutTasks(async ({ file, paths }: HeaderTask): Promise<HeaderAnswer> => {
  if (paths === null)
    return { header: instanceHeader(await headerInFile(file, HEADER_ATTRIBUTES)) };
  const dataSet = await headerInFile(file, wantedAttributes(attributesOf(paths)));
  return { values: paths.map((path) => valuesAt(dataSet, path)) };
});
