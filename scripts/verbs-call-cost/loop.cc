// The same work as ours.mjs, in C: what calling the library costs where nothing stands in between. Prints a JSON object
// of nanoseconds of processor time.
#include <infiniband/verbs.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

static double processorNs() {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

static void must(bool ok) {
  if (!ok) abort();
}

template <class Body>
static double nsPerTurn(int turns, Body body) {
  const double start = processorNs();
  for (int turn = 0; turn < turns; turn++) body(turn);
  return (processorNs() - start) / turns;
}

int main(int, char** words) {
  const int window = atoi(words[1]);
  const int turns = atoi(words[2]);
  int count = 0;
  struct ibv_context* context = ibv_open_device(ibv_get_device_list(&count)[0]);
  struct ibv_pd* pd = ibv_alloc_pd(context);
  struct ibv_cq* cq = ibv_create_cq(context, 2 * window, nullptr, nullptr, 0);
  struct ibv_qp_init_attr initial = {};
  initial.send_cq = initial.recv_cq = cq;
  initial.qp_type = IBV_QPT_RC;
  initial.cap = {static_cast<uint32_t>(window), 1, 1, 1, 0};
  struct ibv_qp* qp = ibv_create_qp(pd, &initial);
  struct ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  must(ibv_modify_qp(qp, &attributes, IBV_QP_STATE) == 0);

  struct ibv_sge segment = {0x1000, 8, 1};
  struct ibv_send_wr wr = {}, *bad = nullptr;
  wr.sg_list = &segment;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.wr.rdma.rkey = 1;
  auto* list = new struct ibv_send_wr[static_cast<size_t>(window)];
  auto* completions = new struct ibv_wc[static_cast<size_t>(window)];
  const auto postList = [&] {
    for (int index = 0; index < window; index++) {
      list[index] = wr;
      list[index].wr_id = static_cast<uint64_t>(index);
      list[index].next = index + 1 < window ? list + index + 1 : nullptr;
    }
    must(ibv_post_send(qp, list, &bad) == 0);
  };
  const auto postOne = [&](int turn) {
    wr.wr_id = static_cast<uint64_t>(turn);
    wr.wr.rdma.remote_addr = 0x2000 + static_cast<uint64_t>(turn);
    must(ibv_post_send(qp, &wr, &bad) == 0);
  };

  const double post = nsPerTurn(turns, postOne);
  const double listed = nsPerTurn(turns / window, [&](int) { postList(); }) / window;
  const double empty = nsPerTurn(turns, [&](int) { must(ibv_poll_cq(cq, window, completions) == 0); });
  wr.send_flags = IBV_SEND_SIGNALED;
  const double write = nsPerTurn(turns, [&](int turn) {
    postOne(turn);
    must(ibv_poll_cq(cq, window, completions) == 1);
  });
  const double batched = nsPerTurn(turns / window,
                                   [&](int) {
                                     postList();
                                     must(ibv_poll_cq(cq, window, completions) == window);
                                   }) /
                         window;
  printf("{\"post\":%f,\"listed\":%f,\"empty\":%f,\"write\":%f,\"batched\":%f}\n", post, listed, empty, write, batched);
}
