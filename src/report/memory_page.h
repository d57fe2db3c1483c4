// `cgrun plan --html`: memory plans as a page to look into, which needs nothing else and no
// network.
#ifndef CGRUN_REPORT_MEMORY_PAGE_H_
#define CGRUN_REPORT_MEMORY_PAGE_H_

#include <string>
#include <vector>

#include "src/report/plan_report.h"

namespace cgrun {

// One plan of the page; both stay the caller's.
struct MemoryPagePlan {
  std::string title;  // tells it from the others: "planner owl"
  const PlanSubject* subject = nullptr;
  const MemoryLayout* layout = nullptr;
};

// Returns the page of at least one plan. Time runs across and addresses run up. Every buffer is a
// rectangle in the colour of its zone, with its name, bytes and source line. Below are the bytes
// alive at each step, and the list of who holds them at the peak or at the step pointed to. Plans
// stand side by side and are pointed to together.
std::string MemoryPageHtml(const std::vector<MemoryPagePlan>& plans);

}  // namespace cgrun

#endif  // CGRUN_REPORT_MEMORY_PAGE_H_
