// The three descriptors that every program expects to be open.
#ifndef CGRUN_CLI_STANDARD_STREAMS_H_
#define CGRUN_CLI_STANDARD_STREAMS_H_

namespace cgrun {

// Opens /dev/null in the place of each of the descriptors 0 to 2 that is closed. Else the first
// file that is opened would take the number, and messages would be written into it.
void OpenClosedStreams();

}  // namespace cgrun

#endif  // CGRUN_CLI_STANDARD_STREAMS_H_
