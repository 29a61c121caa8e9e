import { bytesOf, dicomJson, readTagDataSet } from '../../../../pipelines/dicom/dicom-json.ts';
import { carryOutTasks } from '../../../platform/task-thread.ts';
import type { DataSetTask } from './data-set-reader.ts';

/** Entry point of the thread on which data-set-reader.ts reads data sets. */
carryOutTasks(
  async (task: DataSetTask): Promise<Uint8Array<ArrayBuffer>> => {
    const dataSet = await readTagDataSet(task.file);
    if ('bulkData' in task) {
      const json = dicomJson(dataSet, (tag) => `${task.bulkData}/${tag}`);
      return new TextEncoder().encode(JSON.stringify(json));
    }
    const element = dataSet[task.tag];
    // The value is copied, because only memory that contains nothing else can be transferred to the
    // other thread.
    return new Uint8Array(element && element.vr !== 'SQ' ? bytesOf(element.Value) : []);
  },
  ({ buffer }) => [buffer],
);
