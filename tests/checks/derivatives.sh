#!/bin/sh
# derivatives.sh SOURCE: every derivative that a header declares is compared with differences by some test.
# These are reached through another one, named beside them.
through='
ti_actuators_damp_vjp   tribo_step_vjp (test_robots)
ti_actuators_vjp        tribo_step_vjp (test_robots)
ti_drag_vjp             tribo_joint_forces_vjp (test_diff_ops), tribo_step_vjp (test_fluid)
ti_drag_jvp             tribo_step_jvp (test_fluid)
ti_drag_jac             tribo_step_jac (test_fluid)
ti_fluid_forces_vjp     tribo_joint_forces_vjp (test_diff_ops), tribo_step_vjp (test_fluid)
ti_fluid_forces_jac     tribo_step_jac (test_fluid)
ti_fluid_push_vjp       tribo_step_vjp (test_fluid)
ti_fluid_push_jvp       tribo_step_jvp (test_fluid)
ti_borne_vjp            tribo_joint_forces_vjp (test_diff_ops), tribo_step_vjp (test_robots)
ti_advance_jvp          tribo_sysid (test_sysid)
ti_hit_jac              tribo_step_jac (test_gradients)
ti_gyro_jvp             tribo_step_jvp (test_gradients, test_truths_turning)
ti_gyro_vjp             tribo_step_vjp (test_gradients, test_truths_turning)
ti_hit_move_jvp         tribo_step_jvp (test_diff_ops, test_gradients)
ti_hits_vjp             tribo_step_vjp (test_diff_ops, test_gradients)
ti_touch_vjp            tribo_step_vjp (test_diff_ops, test_gradients)
ti_island_jvp           tribo_step_jvp (test_diff_ops, test_gradients)
ti_island_vjp           tribo_step_vjp (test_diff_ops, test_gradients)
ti_collide_face_jac     ti_collide_jac
ti_collide_level_jac    ti_collide_jac
ti_rounded_jac          ti_collide_jac
ti_rounded_vjp          ti_collide_vjp
ti_limit_way_jac        tribo_step_jac (test_trees)
ti_stretch_vjp          tribo_joint_forces_vjp (test_diff_ops)
ti_corner_jac           ti_collide_jac
ti_motion_load_vjp      tribo_step_vjp (test_trees)
ti_motion_twist_vjp     tribo_step_vjp (test_trees)
ti_side_vjp             tribo_step_vjp (test_diff_ops, test_trees)
ti_actuators_jac        tribo_step_jac (test_trees)
ti_bias_vjp             tribo_step_vjp (test_trees)
ti_bias_velocity_vjp    tribo_step_vjp (test_trees)
ti_inertia_pair_vjp     tribo_step_vjp (test_trees)
ti_closure_apart_vjp    tribo_step_vjp (test_trees)
ti_closure_reference_vjp tribo_step_vjp (test_trees)
ti_closure_side_vjp     tribo_step_vjp (test_trees)
ti_tree_inertia_vjp     tribo_step_vjp (test_trees)
ti_tree_matter_vjp      tribo_com_vjp (test_diff_ops)
ti_tree_places_vjp      tribo_com_vjp (test_diff_ops)
ti_tree_twist_vjp       tribo_step_vjp (test_trees)
ti_tree_vjp             tribo_step_vjp (test_trees)
ti_midpoint_vjp         tribo_step_vjp (test_trees)
ti_few_midpoint_vjp     tribo_step_vjp (test_few)
ti_knot_params_vjp      tribo_trajopt_gradient (test_trajopt)
ti_term_params_vjp      tribo_trajopt_gradient (test_trajopt)
ti_con_jac              tribo_step_jac (test_gradients)
ti_motion_free_jvp      tribo_step_jvp (test_diff_ops, test_gradients)
ti_motion_free_vjp      tribo_step_vjp (test_diff_ops, test_gradients)
ti_motion_heft_jvp      tribo_step_jvp (test_diff_ops, test_gradients)
ti_motion_heft_vjp      tribo_step_vjp (test_diff_ops, test_gradients)
ti_motion_inertia_jvp   tribo_step_jvp (test_diff_ops, test_gradients)
ti_motion_inertia_vjp   tribo_step_vjp (test_diff_ops, test_gradients)
ti_motion_integrate_jvp tribo_step_jvp (test_diff_ops, test_gradients)
ti_motion_integrate_vjp tribo_step_vjp (test_diff_ops, test_gradients)
ti_motion_moved_jvp     tribo_step_jvp (test_diff_ops, test_gradients)
ti_motion_moved_vjp     tribo_step_vjp (test_diff_ops, test_gradients)
ti_motion_now_jvp       tribo_step_jvp (test_diff_ops, test_gradients)
ti_motion_now_vjp       tribo_step_vjp (test_diff_ops, test_gradients)
ti_quat_turn_vjp        tribo_site_pose_vjp (test_diff_ops)
ti_sited_arms_vjp       tribo_joint_forces_vjp (test_diff_ops)
ti_rod_touch_jvp        ti_collide_jac
ti_meet_jac             ti_collide_jac
ti_augmented_jvp        ti_contact_jvp (test_refinement)
ti_augmented_vjp        ti_contact_vjp (test_refinement)
ti_contact_pose_jac     tribo_step_jac (test_jacobian)
ti_contact_delassus_vjp tribo_contact_vjp (test_diff_ops, laws that depend on G)
ti_delassus_vjp         tribo_contact_vjp (test_diff_ops, laws that depend on G)
'
cd "$1" || exit 1
status=0
for name in $(cat include/tribo/*.h src/*/*.h | grep -oE '\b(ti|tribo)_[a-z_]*_(vjp|jvp|jac) *\(' | tr -d ' (' | sort -u); do
    grep -qw "$name" tests/*.c tests/*.h tools/grad_check.c && continue
    echo "$through" | grep -qw "$name" && continue
    echo "$name is in no test: give it a row in tests/test_diff_ops.c"
    status=1
done
exit $status
